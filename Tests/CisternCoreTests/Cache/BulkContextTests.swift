import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Loads of several keys with a policy, with timeouts, and with contexts.
struct BulkContextTests {
  private static let minute = Expiry.after(.seconds(60), graceStale: .seconds(600))

  @Test(arguments: SubjectKind.caches)
  func `each key of a bulk load has its own context and outcome`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      for (key, value) in [("keep", 1), ("store", 2), ("gone", 3), ("fresh", 4)] { cache[key] = value }
      subject.clock.advance(by: .seconds(61))
      cache["fresh"] = 5
      let keys = ["keep", "store", "gone", "fresh", "left", "nothing"]
      let result = try await cache.load(keys: keys, policy: .freshOnly) { contexts in
        var outcomes: [String: FetchOutcome<Int>] = [:]
        for context in contexts {
          switch context.key {
          case "keep": outcomes["keep"] = .keepStored()
          case "store": outcomes["store"] = .store((context.stored?.value ?? 0) + 20)
          case "gone": outcomes["gone"] = .absent()
          case "nothing": outcomes["nothing"] = .keepStored()
          default: #expect(context.key == "left")
          }
        }
        return outcomes
      }
      try #require(result.values == ["keep": 1, "store": 22, "fresh": 5])
      try #require(result.missing == ["gone", "left"])
      try #require((result.failures["nothing"] as? CisternError)?.code == .invalidArgument)
      try #require(result.failures.count == 1)
      try #require(result.details["keep"]?.remainingLifetime == .seconds(60))
      try #require(result.details["fresh"]?.source == .memory && result.details["store"]?.source == .fetched)
      try #require(cache["keep"] == 1 && cache["store"] == 22 && cache.find("gone") == nil)
      try #require(subject.findings == [])
    }
  }

  @Test func `a bulk load without a policy has that of the cache`() async throws {
    let clock = ManualClock()
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure(clock: clock))
    func cache(_ policy: LoadPolicy) throws -> Cache<String, Int> {
      var configuration = CacheConfiguration<Int>()
      configuration.loadPolicy = policy
      let cache = try store.cache(
        "\(policy)", of: Int.self, keyedBy: String.self, expiry: Self.minute, configuration: configuration)
      cache["stale"] = 1
      return cache
    }
    let (fetching, cached) = (try cache(.freshElseStale), try cache(.cachedOnly))
    clock.advance(by: .seconds(61))
    let fresh = try await fetching.values(forKeys: ["stale"]) { _ in ["stale": 2] }
    #expect(fresh.values == ["stale": 2])
    let found = try await cached.load(keys: ["stale", "none"]) { _ in
      Issue.record("the policy does not fetch")
      return [:]
    }
    #expect(found.values == ["stale": 1] && found.missing == ["none"])
  }

  @Test(arguments: SubjectKind.caches)
  func `a bulk load ends at its timeout, with stale values where the policy allows them`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      let cache = subject.cache
      cache["stale"] = 1
      subject.clock.advance(by: .seconds(61))
      let gate = Gate()
      let policy = LoadPolicy.freshElseStale.timingOut(after: .seconds(3))
      let bulk = Task(executorPreference: executor) {
        try await cache.values(forKeys: ["stale", "none", "other"], policy: policy) { keys in
          try await gate.pass()
          return Dictionary(uniqueKeysWithValues: keys.map { ($0, 9) })
        }
      }
      await gate.arrivals(atLeast: 1)
      while subject.clock.sleeperCount == 0 { await Task.yield() }
      subject.clock.advance(by: .seconds(3))
      let result = try await bulk.value
      try #require(result.values == ["stale": 1])
      try #require(Set(result.failures.keys) == ["none", "other"])
      for error in result.failures.values { try #require((error as? CisternError)?.code == .timedOut) }
      gate.open()
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a bulk load that may not fetch returns cached values, and the others are missing`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 3) { executor in
      let subject = try Subject(kind, on: executor, expiry: Self.minute)
      subject.cache["stale"] = 1
      subject.clock.advance(by: .seconds(61))
      subject.cache["fresh"] = 2
      let result = try await subject.cache.values(forKeys: ["stale", "fresh", "none"], policy: .cachedOnly) { _ in
        Issue.record("a bulk load fetched")
        return [:]
      }
      try #require(result.values == ["stale": 1, "fresh": 2] && result.missing == ["none"])
      try #require(result.failures.isEmpty)
    }
  }
}
