import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// Loads inside fetches.
struct NestedLoadTests {
  private static func isCycle(_ error: any Error) -> Bool { (error as? CisternError)?.code == .cyclicLoad }

  /// Returns the value of a load, or -1 if the load would wait for itself.
  private static nonisolated(nonsending) func orCycle(
    _ load: nonisolated(nonsending) () async throws -> Int
  ) async throws -> Int {
    do { return try await load() } catch let error where isCycle(error) { return -1 }
  }

  @Test(arguments: SubjectKind.allCases)
  func `a fetch that loads its own key gets an error immediately, and later loads succeed`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let loads = (0..<3).map { _ in
        subject.load("a") { key in
          let inner = try await Self.orCycle { try await subject.value(key) { _ in 5 } }
          return inner == -1 ? 1 : 0
        }
      }
      for load in loads { try #require(try await load.value == 1) }
      // A fetch that does not catch the error passes it to its flight.
      subject.remove("a")
      let error = await #expect(throws: CisternError.self) {
        try await subject.value("a") { key in try await subject.value(key) { _ in 5 } }
      }
      try #require(error?.code == .cyclicLoad && error?.location.contains("key a") != nil)
      try #require(try await subject.value("a") { _ in 7 } == 7)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `if fetches load each other's keys in a cycle, one inner load throws`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor)
      let next = ["a": "b", "b": "c", "c": "a"]
      @Sendable func fetch(_ key: String) async throws -> Int {
        let inner = try await Self.orCycle { try await subject.value(next[key]!, fetch: fetch) }
        return inner == -1 ? 1 : inner + 1
      }
      let loads = next.keys.sorted().map { subject.load($0, fetch: fetch) }
      var values: [Int] = []
      for load in loads { values.append(try await load.value) }
      // A coalescer keeps no value. A key that is loaded again later may add to the values of the others.
      if kind != .coalescer { try #require(values.sorted() == [1, 2, 3], "\(values)") }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a cycle is found through bulk loads, another cache and a coalescer`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let other = try Subject(.memory, on: executor)
      let coalescer = Coalescer<String, Int>(taskExecutor: executor)
      let value = try await subject.value("a") { _ in
        try await other.value("b") { _ in
          try await coalescer.value(forKey: "c") { _ in
            let loaded = try await subject.cache.values(forKeys: ["a", "d"]) { _ in ["d": 4] }
            try #require(loaded.failures.keys.sorted() == ["a"] && Self.isCycle(loaded.failures["a"]!))
            return loaded["d"]!
          }
        }
      }
      try #require(value == 4)
      // The keys of one bulk load share one fetch.
      let several = try await subject.cache.values(forKeys: ["e", "f"]) { keys in
        let inner = try await Self.orCycle { try await subject.value("e") { _ in 9 } }
        let all = try await subject.cache.values(forKeys: ["f", "g"]) { _ in ["g": 1] }
        try #require(all.failures.keys.sorted() == ["f"] && all["g"] == 1)
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, inner) })
      }
      try #require(several.values == ["e": -1, "f": -1])
      try #require(subject.findings == [] && other.findings == [])
    }
  }

  @Test(arguments: SubjectKind.allCases)
  func `loads inside fetches without a cycle succeed`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(kind, on: executor)
      // Each fetch loads all smaller numbers concurrently.
      @Sendable func fetch(_ key: String) async throws -> Int {
        let number = Int(key)!
        return try await withThrowingTaskGroup(of: Int.self) { group in
          for smaller in 0..<number { group.addTask { try await subject.value("\(smaller)", fetch: fetch) } }
          return try await group.reduce(1, +)
        }
      }
      let loads = (0..<4).map { subject.load("\($0)", fetch: fetch) }
      for (number, load) in loads.enumerated() { try #require(try await load.value == 1 << number) }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a task that outlives its fetch, or is detached from it, can load the same key`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let gate = Gate()
      let later = Recorder<Task<Int, any Error>>()
      let value = try await subject.value("a") { key in
        later.record(
          Task(executorPreference: executor) {
            try await gate.pass()
            return try await subject.value(key) { _ in 2 }
          })
        later.record(Task.detached(executorPreference: executor) { try await subject.value(key) { _ in 3 } })
        return 1
      }
      try #require(value == 1)
      gate.open()
      for task in later.elements { try #require(try await task.value == 1) }
      subject.remove("a")
      try #require(try await subject.value("a") { _ in 4 } == 4)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [1, 2])
  func `fetches that load other keys of a limited cache all end, and run within the limit`(
    kind: SubjectKind, limit: Int
  ) throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      var settings = CacheConfiguration<Int>()
      settings.flightLimit = limit
      let subject = try Subject(kind, on: executor, settings: settings)
      let running = Recorder<Int>()
      @Sendable func work() async {
        running.record(1)
        await Task.yield()
        running.record(-1)
      }
      @Sendable func fetch(_ key: String) async throws -> Int {
        await work()
        guard let number = Int(key), number > 0 else { return 1 }
        // Each number loads its predecessor and one key that all numbers share.
        let loaded =
          executor.seed % 2 == 0
          ? try await subject.value("\(number - 1)", fetch: fetch) + subject.value("0", fetch: fetch)
          : try await subject.cache.values(forKeys: ["\(number - 1)", "0"]) { keys in
            var values: [String: Int] = [:]
            for key in keys { values[key] = try await fetch(key) }
            return values
          }.values.values.reduce(0, +)
        await work()
        return loaded
      }
      let loads = (0..<5).map { subject.load("\($0)", fetch: fetch) }
      for load in loads { _ = try await load.value }
      while subject.inProgressCount > 0 { await Task.yield() }
      var sum = 0
      for change in running.elements {
        sum += change
        try #require(sum <= limit)
      }
      // All permits have been returned.
      let gate = Gate()
      let last = (0..<limit).map { number in
        subject.load("last \(number)") { _ in
          try await gate.pass()
          return 1
        }
      }
      await gate.arrivals(atLeast: limit)
      gate.open()
      for load in last { _ = try await load.value }
      try #require(subject.findings == [])
    }
  }

  @Test func `fetches of two limited caches that load from each other all end`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      var settings = CacheConfiguration<Int>()
      settings.flightLimit = 1
      let subjects = [
        try Subject(.memory, on: executor, settings: settings), try Subject(.memory, on: executor, settings: settings),
      ]
      let loads = (0..<6).map { number in
        subjects[number % 2].load("outer \(number)") { _ in
          await Task.yield()
          return try await subjects[1 - number % 2].value("inner \(number)") { _ in number }
        }
      }
      if executor.seed % 3 == 0 { loads[4].cancel() }
      for (number, load) in loads.enumerated() where number != 4 { try #require(try await load.value == number) }
      _ = await loads[4].result
      for subject in subjects {
        while subject.inProgressCount > 0 { await Task.yield() }
        try #require(try await subject.value("more") { _ in 1 } == 1)
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a fetch gets the value that its own flight has announced, directly and through others`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      /// Announces a value, and stores the next number of the one that a nested load returns.
      func load(
        _ key: String, _ nested: @escaping @Sendable (_ key: String) async throws -> Int?
      ) async throws -> Int? {
        try await cache.load(key) { context in
          context.announce(1)
          return .store((try await nested(context.key) ?? 100) + 1)
        }?.value
      }
      let direct = try await load("direct") { key in try await subject.value(key) { _ in 99 } }
      let throughOther = try await load("first") { key in
        try await subject.value("second") { _ in try await subject.value(key) { _ in 99 } + 1 }
      }
      let ofBulk = try await load("bulk") { key in
        try await cache.values(forKeys: [key, "other"]) { _ in ["other": 5] }[key]
      }
      try #require(direct == 1 && throughOther == 1 && ofBulk == 1)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(["direct", "first", "second", "bulk"].map { cache[$0] } == [2, 3, 2, 2])
      try #require(subject.findings == [])
    }
  }
}
