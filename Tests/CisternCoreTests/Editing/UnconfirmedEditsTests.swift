import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The visibility of an edit before its confirmation.
struct UnconfirmedEditsTests {
  /// Starts an edit that is pending until its gate opens, and then fails.
  private static func edit(
    _ subject: FieldsSubject, gate: Gate, _ change: @escaping @Sendable (Fields?) -> Fields?
  ) -> Task<Fields?, any Error> {
    subject.task {
      try await subject.cache.editValue(forKey: "k", change) {
        await gate.passUncancelled()
        throw Broken()
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `the value sequence of a key begins with nil during a removing edit and continues with the restored value`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      cache["k"] = ["base": 1]
      let gate = Gate()
      let edit = Self.edit(subject, gate: gate) { _ in nil }
      await gate.arrivals(atLeast: 1)
      try #require(cache["k"] == nil)
      let seen = Recorder<Fields?>()
      let token = cache.observeValue(forKey: "k") { seen.record($0) }
      var values = cache.valueUpdates(forKey: "k").makeAsyncIterator()
      try #require(await values.next() == .some(nil))
      gate.open()
      await #expect(throws: Broken.self) { try await edit.value }
      try #require(await values.next() == .some(["base": 1]))
      for _ in 0..<50 { await Task.yield() }
      try #require(seen.elements == [nil, ["base": 1]])
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `reading bytes returns those of the confirmed value, or nil without one`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor, configuration: CacheConfiguration())
      let cache = subject.cache
      for (base, removes) in [(nil, false), (["base": 1], false), (["base": 1], true)] as [(Fields?, Bool)] {
        cache["k"] = base
        let before = cache.withBytes(forKey: "k") { $0.byteCount }
        let gate = Gate()
        let edit = Self.edit(subject, gate: gate) { removes ? nil : ($0 ?? [:]).merging(["edited": 1]) { $1 } }
        await gate.arrivals(atLeast: 1)
        try #require(cache["k"]?["edited"] == (removes ? nil : 1))
        try #require(cache.withBytes(forKey: "k") { $0.byteCount } == before)
        gate.open()
        await #expect(throws: Broken.self) { try await edit.value }
        try #require(cache.withBytes(forKey: "k") { $0.byteCount } == before)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [true, false])
  func `a load beside a flight gets the value of an edit that memory does not hold`(
    kind: FieldsSubject.Kind, isTooLarge: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      var configuration = CacheConfiguration<Fields>()
      if isTooLarge { configuration.weigher = { $0["edited"] == nil ? 1 : 1 << 30 } }
      let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
      let cache = subject.cache
      let fetch = Gate()
      let led = subject.task {
        try await cache.value(forKey: "k") { _ in
          try await fetch.pass()
          return ["loaded": 1]
        }
      }
      await fetch.arrivals(atLeast: 1)
      let (edit, gate) = await subject.beginEdit("edited", fails: true)
      if !isTooLarge { subject.store.trimMemory(to: .bytes(0)) }
      let results = Recorder<Fields?>()
      let loads = [
        subject.task { results.record(try await cache.value(forKey: "k") { _ in [:] }) },
        subject.task { results.record(try await cache.loadedValue(forKey: "k") { _ in [:] }.value) },
        subject.task { results.record(try await cache.values(forKeys: ["k"]) { _ in [:] }.values["k"]) },
      ]
      while results.count + Int(cache.statistics.joins) < loads.count { await Task.yield() }
      fetch.open()
      for load in loads { try await load.value }
      try #require(results.elements == [["edited": 1], ["edited": 1], ["edited": 1]])
      try #require(cache.statistics.joins == 0)
      try #require(try await led.value == ["loaded": 1])
      try #require(cache["k"] == ["loaded": 1, "edited": 1])
      gate.open()
      _ = await edit.result
      try #require(cache["k"] == ["loaded": 1])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [true, false])
  func `a fetched value that was invalidated does not come back below a removing edit`(
    kind: FieldsSubject.Kind, isInvalidated: Bool
  ) throws {
    try SeededSchedule.explore(seeds: 30) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let (fetch, gate) = (Gate(), Gate())
      let edit = Self.edit(subject, gate: gate) { _ in nil }
      await gate.arrivals(atLeast: 1)
      let led = subject.task {
        try await cache.load("k", policy: .reload) { _ in
          await fetch.passUncancelled()
          return .store(["fetched": 1], tags: ["tag"])
        }
      }
      await fetch.arrivals(atLeast: 1)
      cache.removeAll(tagged: isInvalidated ? "tag" : "other")
      fetch.open()
      try #require(try await led.value?.value == ["fetched": 1])
      try #require(cache["k"] == nil)
      gate.open()
      _ = await edit.result
      let value: Fields? = isInvalidated ? nil : ["fetched": 1]
      try #require(cache["k"] == value)
      try #require(subject.valuesFromBothTiers("k") == [value, value])
      try #require(subject.findings == [])
    }
  }
}
