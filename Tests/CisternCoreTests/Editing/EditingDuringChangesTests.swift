import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Unconfirmed edits of a key that is written, loaded, removed or invalidated while they are pending.
struct EditingDuringChangesTests {
  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value written under a pending edit is shown edited and stored unedited`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let (edit, gate) = await subject.beginEdit("edited", fails: true)
      subject.cache["k"] = ["set": 1]
      try #require(subject.cache["k"] == ["set": 1, "edited": 1])
      let loaded = try await subject.cache.refreshValue(forKey: "k") { _ in ["loaded": 1] }
      try #require(loaded == ["loaded": 1] && subject.cache["k"] == ["loaded": 1, "edited": 1])
      try subject.cache.batch { $0.setValue(["batch": 1], forKey: "k") }
      try #require(subject.cache["k"] == ["batch": 1, "edited": 1])
      if kind != .memory { try #require(try subject.afterCrash() == ["batch": 1]) }
      gate.open()
      _ = await edit.result
      try #require(subject.valuesFromBothTiers("k") == [["batch": 1], ["batch": 1]])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a write that costs as much as the shown value also becomes the edit's base`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      subject.cache["k"] = ["below": 1]
      let (edit, gate) = await subject.beginEdit("over", fails: true)
      try #require(subject.cache["k"] == ["below": 1, "over": 1])
      subject.cache["k"] = ["after": 1, "over": 2]
      try #require(subject.cache["k"] == ["after": 1, "over": 1])
      gate.open()
      _ = await edit.result
      try #require(subject.valuesFromBothTiers("k") == [["after": 1, "over": 2], ["after": 1, "over": 2]])
      try #require(subject.findings == [])
    }
  }

  @Test func `a write becomes the edit's base even after a memory-only cache evicted the shown value`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings: Store.Configuration = .ignoringMemoryPressure
      settings.taskExecutor = executor
      let cache = try Cache<String, Fields>(costLimit: 100, configuration: settings)
      cache["k"] = ["below": 1]
      let gate = Gate()
      let edit = Task(executorPreference: executor) {
        try await cache.editValue(forKey: "k") { value in
          (value ?? [:]).merging(["over": 1]) { $1 }
        } confirmedBy: {
          await gate.passUncancelled()
          throw Broken()
        }
      }
      await gate.arrivals(atLeast: 1)
      cache.trim(toCost: 0)
      cache["k"] = ["after": 1, "over": 2]
      try #require(cache["k"] == ["after": 1, "over": 1])
      gate.open()
      _ = await edit.result
      try #require(cache["k"] == ["after": 1, "over": 2])
      try #require(cache.checkInvariants() == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a load in progress when an edit begins or fails provides the base of the edits`(
    kind: FieldsSubject.Kind
  ) throws {
    for failsFirst in [true, false] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try FieldsSubject(plain: kind, on: executor)
        let (fetch, gate) = (Gate(), Gate())
        let load = subject.task {
          try await subject.cache.value(forKey: "k") { _ in
            try await fetch.pass()
            return ["loaded": 1]
          }
        }
        await fetch.arrivals(atLeast: 1)
        let edit = subject.edit("edited", gate: gate, fails: true)
        await gate.arrivals(atLeast: 1)
        try #require(subject.cache["k"] == ["edited": 1])
        if failsFirst {
          gate.open()
          _ = await edit.result
          try #require(subject.cache["k"] == nil)
        }
        fetch.open()
        try #require(try await load.value == ["loaded": 1])
        if !failsFirst { try #require(subject.cache["k"] == ["loaded": 1, "edited": 1]) }
        gate.open()
        _ = await edit.result
        try #require(subject.valuesFromBothTiers("k") == [["loaded": 1], ["loaded": 1]])
        try #require(subject.findings == [])
      }
    }
  }

  enum Removal: CaseIterable, Sendable {
    case key, all, tag, prefix, predicate

    func apply(to cache: Cache<String, Fields>) {
      switch self {
      case .key: cache["k"] = nil
      case .all: cache.removeAll()
      case .tag: cache.removeAll(tagged: "tag")
      case .prefix: cache.removeAll(withPrefix: "k")
      case .predicate: cache.removeAll(where: { $0 == "k" })
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Removal.allCases)
  func `a removal ends pending edits, which store nothing regardless of their confirmation`(
    kind: FieldsSubject.Kind, removal: Removal
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", tags: ["tag"])
      let gates = (0..<3).map { _ in Gate() }
      let edits = [
        subject.edit("kept", gate: gates[0]), subject.edit("failed", gate: gates[1], fails: true),
        subject.edit("answered", gate: gates[2], answer: ["server": 1]),
      ]
      for gate in gates { await gate.arrivals(atLeast: 1) }
      removal.apply(to: cache)
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      for gate in gates { gate.open() }
      try #require(try await edits[0].value == nil)
      for edit in edits { _ = await edit.result }
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, Removal.allCases)
  func `after a removal ends edits, loads are stored while the operations of the edits run`(
    kind: FieldsSubject.Kind, removal: Removal
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", tags: ["tag"])
      let (edit, gate) = await subject.beginEdit("edited")
      removal.apply(to: cache)
      let fetches = Recorder<Void>()
      for _ in 0..<3 {
        let loaded = try await cache.value(forKey: "k") { _ in
          fetches.record(())
          return ["loaded": 1]
        }
        try #require(loaded == ["loaded": 1])
      }
      try #require(fetches.count == 1)
      try #require(subject.valuesFromBothTiers("k") == [["loaded": 1], ["loaded": 1]])
      _ = try await cache.value(forKey: "k", policy: .reload) { _ in ["newer": 1] }
      try #require(subject.valuesFromBothTiers("k") == [["newer": 1], ["newer": 1]])
      let absent = try await cache.load("k", policy: .fetchAnew) { _ in .absent() }
      try #require(absent == nil)
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      gate.open()
      try #require(try await edit.value == nil)
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an invalidation of other keys does not affect edits`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", tags: ["tag"])
      let (edit, gate) = await subject.beginEdit("edited")
      cache.removeAll(tagged: "other")
      cache.removeAll(withPrefix: "l")
      let shown: Fields = ["base": 1, "edited": 1]
      try #require(cache["k"] == shown)
      gate.open()
      try #require(try await edit.value == shown)
      try #require(subject.valuesFromBothTiers("k") == [shown, shown])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an expired confirmed value does not reappear when an edit fails`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      subject.cache.setValue(["base": 1], forKey: "k", expiry: .after(.seconds(10)))
      let (edit, gate) = await subject.beginEdit("edited", fails: true)
      subject.clock.advance(by: .seconds(11))
      try #require(subject.cache["k"] == ["base": 1, "edited": 1])
      gate.open()
      _ = await edit.result
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a fetch that outlasts many invalidations removes the value below an edit`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["base": 1]
      let (fetch, gate, changes) = (Gate(), Gate(), Recorder<Void>())
      let led = subject.task {
        try await cache.load("k", policy: .reload) { _ in
          await fetch.passUncancelled()
          return .absent()
        }
      }
      await fetch.arrivals(atLeast: 1)
      let edit = subject.task {
        try await cache.editValue(forKey: "k") { value in
          changes.record(())
          // A removal that is tried without end must fail the test, and not hang it.
          if changes.count == 1000 { cache["k"] = nil }
          return (value ?? [:]).merging(["edited": 1]) { $1 }
        } confirmedBy: {
          await gate.passUncancelled()
          throw Broken()
        }
      }
      await gate.arrivals(atLeast: 1)
      // The cache forgets the older ones of these invalidations, which concern other keys. The flight counts as
      // invalidated then.
      for number in 0..<12 {
        cache.removeAll(tagged: String(repeating: "t", count: 1 << 20) + "\(number)")
        for _ in 0..<20 { await Task.yield() }
      }
      try #require(cache["k"] == ["base": 1, "edited": 1])
      fetch.open()
      try #require(try await led.value == nil)
      try #require(changes.count < 1000)
      try #require(cache["k"] == ["edited": 1])
      gate.open()
      _ = await edit.result
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      try #require(subject.findings == [])
    }
  }
}
