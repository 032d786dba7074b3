import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Announced values of keys with edits.
struct EarlyValueUnderEditsTests {
  /// The edits of the key, and the value that they show over an announced 1.
  enum Edit: CaseIterable, Sendable {
    case removal, change, removalThenChange, changeThenRemoval

    /// The changes, in their order. A change shows its value plus 100.
    var removes: [Bool] {
      switch self {
      case .removal: [true]
      case .change: [false]
      case .removalThenChange: [true, false]
      case .changeThenRemoval: [false, true]
      }
    }

    var shown: Int? {
      switch self {
      case .removal, .changeThenRemoval: nil
      case .change: 101
      case .removalThenChange: 100
      }
    }
  }

  @Test(arguments: SubjectKind.caches, Edit.allCases)
  func `an announced value is shown through the edits that were pending before, or not at all`(
    kind: SubjectKind, edit: Edit
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      cache["a"] = 4
      let changes = Recorder<Change<String, Int>>()
      let token = cache.observe { changes.record($0) }
      defer { token.cancel() }
      let (confirmation, fetch, announced) = (Gate(), Gate(), Recorder<Bool>())
      var edits: [Task<Void, Never>] = []
      for (number, removes) in edit.removes.enumerated() {
        edits.append(Self.begin(removes, of: cache, on: executor, until: confirmation))
        await confirmation.arrivals(atLeast: number + 1)
      }
      let led = Self.lead(subject, until: fetch, noting: announced)
      await fetch.arrivals(atLeast: 1)
      try #require(announced.elements == [edit.shown != nil])
      let joined = subject.load("a", policy: .reload) { _ in 99 }
      try #require(cache["a"] == edit.shown.map { _ in edit == .change ? 104 : 100 })
      if let shown = edit.shown {
        try #require(try await led.value?.value == shown)
        try #require(try await joined.value == shown)
      } else {
        while cache.statistics.joins == 0 { await Task.yield() }
      }
      try #require(!changes.elements.contains { $0.value == 1 })
      fetch.open()
      if case nil = edit.shown {
        try #require(try await led.value?.value == 3)
        try #require(try await joined.value == 3)
      }
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      confirmation.open()
      for edit in edits { await edit.value }
      // The edits failed, and the fetched value is the confirmed one.
      try #require(cache["a"] == 3)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load after a removing edit does not get a value that was announced before`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      cache["a"] = 4
      let (confirmation, fetch) = (Gate(), Gate())
      let led = Self.lead(subject, until: fetch)
      try #require(try await led.value?.value == 1)
      let edit = Self.begin(true, of: cache, on: executor, until: confirmation)
      await confirmation.arrivals(atLeast: 1)
      let single = subject.load("a") { _ in 5 }
      let bulk = Task(executorPreference: executor) { try await cache.values(forKeys: ["a"]) { _ in ["a": 5] } }
      try #require(try await single.value == 5)
      try #require(try await bulk.value.values == ["a": 5])
      try #require(cache["a"] == nil)
      fetch.open()
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      confirmation.open()
      await edit.value
      try #require(cache["a"] == 5)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a load after a withdrawn edit does not get a value that was announced with it`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      cache["a"] = 4
      let (confirmation, fetch) = (Gate(), Gate())
      let edit = Self.begin(false, of: cache, on: executor, until: confirmation)
      await confirmation.arrivals(atLeast: 1)
      let led = Self.lead(subject, until: fetch)
      try #require(try await led.value?.value == 101)
      confirmation.open()
      await edit.value
      let later = subject.load("a", policy: .reload) { _ in 5 }
      while cache.statistics.joins == 0 { await Task.yield() }
      fetch.open()
      try #require(try await later.value == 3)
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"] == 3 && subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a draft that removes a key shows no announced value`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      cache["a"] = 4
      let (draft, fetch) = (cache.draft(), Gate())
      draft["a"] = nil
      let led = Self.lead(subject, until: fetch)
      try #require(try await led.value?.value == 1)
      try #require(draft["a"] == nil && cache["a"] == 4)
      try draft.save()
      // The saved removal ends the right of the flight to its entry.
      let later = subject.load("a") { _ in 5 }
      try #require(try await later.value == 5)
      fetch.open()
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"] == 5)
      try #require(subject.findings == [])
    }
  }

  /// Leads a load whose fetch announces 1, and stores 3 when the gate opens.
  private static func lead(
    _ subject: Subject, until gate: Gate, noting announced: Recorder<Bool> = Recorder()
  ) -> Task<Loaded<Int>?, any Error> {
    Task(executorPreference: subject.executor) {
      try await subject.cache.load("a", policy: .reload) { context in
        announced.record(context.announce(1))
        try await gate.pass()
        return .store(3)
      }
    }
  }

  /// Begins an edit that fails when the gate opens.
  private static func begin(
    _ removes: Bool, of cache: Cache<String, Int>, on executor: SeededExecutor, until gate: Gate
  ) -> Task<Void, Never> {
    Task(executorPreference: executor) {
      _ = try? await cache.editValue(forKey: "a", { removes ? nil : ($0 ?? 0) + 100 }) {
        await gate.passUncancelled()
        throw Broken()
      }
    }
  }
}
