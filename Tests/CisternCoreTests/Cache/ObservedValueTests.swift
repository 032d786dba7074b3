import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Handlers of one value that are behind the writers.
struct ObservedValueTests {
  @Test(arguments: SubjectKind.caches)
  func `a closure that is behind misses no value and no absence between invalidations`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let seen = Recorder<Int?>()
      let token = cache.observeValue(forKey: "k") { seen.record($0) }
      while seen.elements.isEmpty { await Task.yield() }
      var random = SeededGenerator(seed: executor.seed)
      var expected: [Int?] = [nil]
      func expect(_ value: Int?) {
        if value != nil || expected.last != .some(nil) { expected.append(value) }
      }
      for number in 1...15 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
          cache.setValue(number, forKey: "k", tags: ["mine"])
          expect(number)
        case 3:
          cache.removeAll(tagged: "mine")
          expect(nil)
        case 4:
          cache.removeAll(withPrefix: "k")
          expect(nil)
        case 5: cache.removeAll(tagged: "theirs")
        case 6: cache.removeAll(withPrefix: "other")
        default:
          cache["k"] = nil
          expect(nil)
        }
        if kind != .memory, number % 5 == 0 { cache.trim(toCost: 0) }
        if Bool.random(using: &random) { await Task.yield() }
      }
      for _ in 0..<200 where seen.count < expected.count { await Task.yield() }
      try #require(seen.elements == expected)
      token.cancel()
      try #require(subject.findings == [] && cache.watchFindings == [])
    }
  }

  @Test func `a closure that ends its observation at an absence does not receive the value that followed`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.memory, on: executor)
      let cache = subject.cache
      let seen = Recorder<Int?>()
      let observations = Observations()
      cache.setValue(1, forKey: "k", tags: ["mine"])
      cache.observeValue(forKey: "k") { [weak observations] value in
        seen.record(value)
        if value == nil { observations?.cancelAll() }
      }.store(in: observations)
      while seen.elements.isEmpty { await Task.yield() }
      cache.removeAll(tagged: "mine")
      cache["k"] = 2
      for _ in 0..<50 { await Task.yield() }
      try #require(seen.elements == [1, nil])
    }
  }

  /// Observes a value of 1 that only the second tier has, and makes changes while it is read for the initial value.
  private func observe(
    _ subject: Subject, _ seen: Recorder<Int?>, duringRead changes: @escaping @Sendable (Cache<String, Int>) -> Void
  ) throws -> ObservationToken {
    let (cache, tier) = (subject.cache, try #require(subject.tier))
    cache.setValue(1, forKey: "k", tags: ["mine"])
    cache.trim(toCost: 0)
    tier.setAfterLoad { _ in
      tier.setAfterLoad(nil)
      changes(cache)
    }
    return cache.observeValue(forKey: "k") { seen.record($0) }
  }

  @Test func `a closure receives an absence that begins during the registration`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let seen = Recorder<Int?>()
      let token = try observe(subject, seen) { cache in
        cache.setValue(2, forKey: "k", tags: ["mine"])
        cache.removeAll(tagged: "mine")
      }
      for _ in 0..<50 { await Task.yield() }
      try #require(seen.elements == [2, nil])
      token.cancel()
    }
  }

  @Test func `a closure that is behind misses no value after an invalidation during the registration`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let seen = Recorder<Int?>()
      let token = try observe(subject, seen) { $0.removeAll(tagged: "theirs") }
      subject.cache["k"] = 7
      subject.cache["k"] = nil
      for _ in 0..<50 { await Task.yield() }
      try #require(seen.elements == [1, 7, nil])
      token.cancel()
    }
  }
}
