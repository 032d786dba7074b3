import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Unconfirmed edits that are shown, confirmed, rolled back, or answered with another value.
struct EditingTests {
  @Test(arguments: FieldsSubject.Kind.allCases, [true, false])
  func `an edit is shown immediately, is not on disk before its confirmation, and is rolled back on failure`(
    kind: FieldsSubject.Kind, fails: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["base": 1]
      let changes = Recorder<Change<String, Fields>>()
      let token = cache.observe { changes.record($0) }
      let (gate, me) = (Gate(), WriterContext())
      let edit = subject.edit("edited", gate: gate, fails: fails, context: me)
      await gate.arrivals(atLeast: 1)
      for _ in 0..<2 {
        try #require(cache["k"] == ["base": 1, "edited": 1] && cache.contains("k"))
        let loaded = try await cache.value(forKey: "k") { _ in throw Broken() }
        try #require(loaded == ["base": 1, "edited": 1])
        // The edit is shown even if memory has no space for it.
        cache.trim(toCost: 0)
      }
      if kind != .memory { try #require(try subject.afterCrash() == ["base": 1]) }
      gate.open()
      let end: Fields = fails ? ["base": 1] : ["base": 1, "edited": 1]
      if fails {
        await #expect(throws: Broken.self) { try await edit.value }
      } else {
        try #require(try await edit.value == end)
      }
      try #require(subject.valuesFromBothTiers("k") == [end, end])
      if kind != .memory { try #require(try subject.afterCrash() == end) }
      for _ in 0..<50 { await Task.yield() }
      let seen = changes.elements.map(\.value)
      try #require(seen == [["base": 1, "edited": 1]] + (fails ? [["base": 1]] : []))
      try #require(changes.elements.allSatisfy { $0.context == me })
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `concurrent edits are confirmed or rolled back independently, in any order`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["base": 1]
      var generator = SeededGenerator(seed: executor.seed)
      let audit = FieldsAudit(base: ["k": ["base": 1]])
      let token = cache.observe { audit.take($0) }
      let count = 4
      let gates = (0..<count).map { _ in Gate() }
      let fails = (0..<count).map { _ in generator.next(below: 2) == 0 }
      let edits = (0..<count).map { subject.edit("edit\($0)", gate: gates[$0], fails: fails[$0]) }
      for gate in gates { await gate.arrivals(atLeast: 1) }
      let other = subject.task {
        await Task.yield()
        switch executor.seed % 4 {
        case 0: cache["k"] = ["base": 2]
        case 1: try cache.batch { $0.setValue(["base": 2], forKey: "k") }
        case 2: Self.update(cache)
        default: _ = try await cache.refreshValue(forKey: "k") { _ in ["base": 2] }
        }
        if kind != .memory { cache.trim(toCost: 0) }
      }
      for place in (0..<count).shuffled(using: &generator) {
        gates[place].open()
        if generator.next(below: 2) == 0 {
          _ = await edits[place].result
          // A confirmed edit may already have been replaced.
          if fails[place] { try #require(cache["k"]?["edit\(place)"] == nil) }
        }
      }
      for edit in edits { _ = await edit.result }
      try await other.value
      let end = subject.valuesFromBothTiers("k")
      // A value loaded before an edit was confirmed is older than the edit.
      let isOvertaken = executor.seed % 4 == 3 && fails.contains(false)
      try #require(end[0] == end[1] && (end[0]?["base"] == 2 || isOvertaken))
      for place in 0..<count where fails[place] { try #require(end[0]?["edit\(place)"] == nil) }
      for _ in 0..<100 { await Task.yield() }
      try #require(audit.findings == [] && audit.values["k"] == end[0])
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  private static func update(_ cache: Cache<String, Fields>) { cache.updateValue(forKey: "k") { $0 = ["base": 2] } }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `the value that a confirmation returns becomes the base of later edits`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      subject.cache["k"] = ["base": 1]
      let (first, second) = (Gate(), Gate())
      let one = subject.edit("one", gate: first, answer: ["server": 1])
      await first.arrivals(atLeast: 1)
      let two = subject.edit("two", gate: second)
      await second.arrivals(atLeast: 1)
      first.open()
      try #require(try await one.value == ["server": 1])
      try #require(subject.cache["k"] == ["server": 1, "two": 1])
      if kind != .memory { try #require(try subject.afterCrash() == ["server": 1]) }
      second.open()
      try #require(try await two.value == ["server": 1, "two": 1])
      try #require(subject.valuesFromBothTiers("k") == [["server": 1, "two": 1], ["server": 1, "two": 1]])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an edit can remove a value, and a cancelled edit is rolled back`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache["k"] = ["base": 1]
      let gate = Gate()
      let removal = subject.task {
        try await cache.editValue(forKey: "k") { _ in
          nil
        } confirmedBy: {
          try await gate.pass()
          return nil
        }
      }
      await gate.arrivals(atLeast: 1)
      try #require(subject.valuesFromBothTiers("k") == [nil, nil] && !cache.contains("k"))
      removal.cancel()
      await #expect(throws: CancellationError.self) { try await removal.value }
      try #require(subject.valuesFromBothTiers("k") == [["base": 1], ["base": 1]])
      let confirmed = try await cache.editValue(forKey: "k") { _ in
        nil
      } confirmedBy: {
        nil
      }
      try #require(confirmed == nil && subject.valuesFromBothTiers("k") == [nil, nil])
      if kind != .memory { try #require(try subject.afterCrash() == nil) }
      try #require(subject.findings == [])
    }
  }

  @Test func `a merging cache merges the confirmation's value, and a failed merge fails only its own edit`()
    throws
  {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor)
      subject.cache["k"] = ["base": 1]
      let gate = Gate()
      gate.open()
      let merged = subject.edit("edited", gate: gate, answer: ["server": 1])
      try #require(try await merged.value == ["base": 1, "server": 1])
      let failed = subject.edit("lost", gate: gate, answer: unmergeable)
      let error = await #expect(throws: CisternError.self) { try await failed.value }
      try #require(error?.code == .notMerged)
      try #require(subject.valuesFromBothTiers("k") == [["base": 1, "server": 1], ["base": 1, "server": 1]])
      try #require(subject.findings == [])
    }
  }
}
