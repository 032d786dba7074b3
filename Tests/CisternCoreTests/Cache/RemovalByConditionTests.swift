import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// The keys that a removal by a condition passes to its closure, and counts.
struct RemovalByConditionTests {
  /// Removes all keys, and returns the keys that the closure received, with the number of removed ones.
  static func removeAll(of cache: Cache<String, Int>) -> (passed: [String], count: Int) {
    var passed: [String] = []
    let count = cache.removeAll { key in
      passed.append(key)
      return true
    }
    return (passed.sorted(), count)
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `a key that is removed after the keys were listed is neither passed nor counted`(
    kind: SubjectKind, isInMemory: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      for key in ["a", "b"] { cache[key] = 1 }
      if kind == .staging { try await subject.tier?.flush() }
      if !isInMemory, kind != .memory { cache.trim(toCost: 0) }
      var passed: [String] = []
      let count = cache.removeAll { key in
        passed.append(key)
        cache[key == "a" ? "b" : "a"] = nil
        return true
      }
      try #require(passed.count == 1 && count == 1)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `keys that a tag or a prefix removed are neither passed nor counted`(
    kind: SubjectKind, isInMemory: Bool
  ) throws {
    for removesTag in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Subject(kind, on: executor)
        let cache = subject.cache
        for number in 0..<100 { cache.setValue(number, forKey: "gone/\(number)", tags: ["gone"]) }
        cache["left"] = 1
        if kind == .staging { try await subject.tier?.flush() }
        if !isInMemory, kind != .memory { cache.trim(toCost: 0) }
        // No task that sweeps runs before the next removal.
        if removesTag { cache.removeAll(tagged: "gone") } else { cache.removeAll(withPrefix: "gone/") }
        let (passed, count) = Self.removeAll(of: cache)
        try #require(passed == ["left"] && count == 1)
        try #require(subject.valuesFromBothTiers("left") == [nil, nil])
        try #require(subject.findings == [])
      }
    }
  }

  @Test(arguments: SubjectKind.caches, [false, true])
  func `expired values are neither passed nor counted, and observers see them expire`(
    kind: SubjectKind, isInMemory: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let expired = Recorder<String>()
      let removed = Recorder<String>()
      cache.setValue(1, forKey: "expired", expiry: .after(.seconds(10)))
      cache.setValue(2, forKey: "left", expiry: .after(.seconds(60)))
      try await subject.tier?.flush()
      if !isInMemory, kind != .memory { cache.trim(toCost: 0) }
      let token = cache.observe { change in
        guard case .removed(let key, let cause) = change.event else { return }
        (cause == .expired ? expired : removed).record(key)
      }
      subject.clock.advance(by: .seconds(10))
      let (passed, count) = Self.removeAll(of: cache)
      try #require(passed == ["left"] && count == 1)
      try #require(cache.statistics.expirations == 1 && cache.statistics.removals == 1)
      while expired.count + removed.count < 2 { await Task.yield() }
      try #require(expired.elements == ["expired"] && removed.elements == ["left"])
      token.cancel()
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `values in grace are passed and counted`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(10), graceStale: .seconds(10)))
      let cache = subject.cache
      for isInMemory in [true, false] {
        cache["stale"] = 1
        try await subject.tier?.flush()
        if !isInMemory, kind != .memory { cache.trim(toCost: 0) }
        subject.clock.advance(by: .seconds(15))
        let (passed, count) = Self.removeAll(of: cache)
        try #require(passed == ["stale"] && count == 1)
        try #require(cache.find("stale") == nil)
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a key with a flight over an expired value is passed, not counted, and not stored`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(10), graceStale: .seconds(10)))
      subject.cache["a"] = 1
      subject.clock.advance(by: .seconds(15))
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(2)) }
      let load = subject.load("a", policy: .freshOnly, fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      subject.clock.advance(by: .seconds(10))
      let (passed, count) = Self.removeAll(of: subject.cache)
      try #require(passed == ["a"] && count == 0)
      gate.open()
      try #require(try await load.value == 2)
      try #require(subject.valuesFromBothTiers("a") == [nil, nil])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a key whose edit shows no value is passed, and counted if a confirmed value is below`(
    kind: SubjectKind
  ) throws {
    for isBelow in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let subject = try Subject(kind, on: executor)
        let cache = subject.cache
        if isBelow { cache["a"] = 1 }
        let gate = Gate()
        let edit = Task(executorPreference: executor) {
          try await cache.editValue(forKey: "a") { _ in
            nil
          } confirmedBy: {
            try await gate.pass()
            throw Broken()
          }
        }
        await gate.arrivals(atLeast: 1)
        try #require(cache["a"] == nil)
        let (passed, count) = Self.removeAll(of: cache)
        try #require(passed == ["a"] && count == (isBelow ? 1 : 0))
        gate.open()
        _ = await edit.result
        try #require(subject.valuesFromBothTiers("a") == [nil, nil])
        try #require(subject.findings == [])
      }
    }
  }
}
