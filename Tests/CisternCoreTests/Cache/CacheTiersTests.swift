import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// Caches that use one tier of their store.
struct CacheTiersTests {
  private static func settings(_ tiers: CacheTiers) -> CacheConfiguration<Int> {
    var settings = CacheConfiguration<Int>()
    settings.tiers = tiers
    return settings
  }

  @Test func `a cache in memory only leaves the second tier alone`() throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(.twoTiers, on: executor, settings: Self.settings(.memoryOnly))
      subject.cache["a"] = 1
      try #require(try await subject.value("b") { _ in 2 } == 2)
      try #require(subject.valuesFromBothTiers("a") == [1, nil])
      try #require(try subject.reopened().cache["b"] == nil)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: SubjectKind.tiered)
  func `a cache in the second tier only holds nothing in memory and fetches once`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let expiry = Expiry.after(.seconds(60), graceStale: .seconds(60))
      let subject = try Subject(kind, on: executor, expiry: expiry, settings: Self.settings(.secondTierOnly))
      let cache = subject.cache
      let origin = ScriptedOrigin<String, Int> { _, number in .yielding(3, .value(number)) }
      let loads = (0..<4).map { _ in subject.load("a", fetch: origin.fetch) }
      for load in loads { try #require(try await load.value == 1) }
      try #require(cache["a"] == 1 && cache.statistics.memory.entryCount == 0)
      try #require(try await subject.value("a", fetch: origin.fetch) == 1)
      try #require(origin.callCount == 1)
      cache["a"] = 5
      try #require(cache.find("a")?.source == .secondTier && cache["a"] == 5)
      subject.clock.advance(by: .seconds(61))
      // A stale value is returned, and one refresh follows.
      try #require(try await subject.value("a", fetch: origin.fetch) == 5)
      while subject.inProgressCount > 0 { await Task.yield() }
      try #require(cache["a"] == 2)
      cache.updateValue(forKey: "a") { $0 = ($0 ?? 0) + 10 }
      try #require(cache["a"] == 12 && cache.statistics.memory.cost == 0)
      cache.removeValue(forKey: "a")
      try #require(cache["a"] == nil)
      try #require(subject.findings == [])
    }
  }

  @Test func `a cache in the second tier only needs a second tier`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let error = #expect(throws: CisternError.self) {
      _ = try store.cache(
        "a", of: Int.self, keyedBy: String.self, configuration: Self.settings(.secondTierOnly))
    }
    #expect(error?.code == .invalidArgument)
    let other = try store.cache("b", of: Int.self, keyedBy: String.self)
    other["a"] = 1
    let conflict = #expect(throws: CisternError.self) {
      _ = try store.cache("b", of: Int.self, keyedBy: String.self, configuration: Self.settings(.memoryOnly))
    }
    #expect(conflict?.code == .conflictingOpen && conflict?.message.contains("tiers") == true)
  }
}
