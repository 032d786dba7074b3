import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

@Suite struct StatisticsTests {
  @Test func `every counter is added and copied to the snapshot`() {
    var part = ShardCounters()
    part.memoryHits = 1
    part.diskHits = 2
    part.lateHits = 3
    part.flights = 4
    part.joins = 5
    part.failures = 7
    part.stores = 8
    part.removals = 9
    part.evictionsByCost = 10
    part.evictionsByCount = 11
    part.diskEvictions = 12
    part.expirations = 13
    part.refused = 14
    part.notEncodable = 15
    part.notDecodable = 16
    part.staleHits = 17
    part.refreshes = 18
    part.timeouts = 19
    part.migrated = 20
    part.dropped = 21
    part.invalidations = 6
    part.rejected = 22
    part.widenedRemovals = 23
    var sum = part
    sum += part

    let single = numbers(of: part)
    #expect(single.count == 23 && !single.contains(0), "the type has a counter that this test lacks")
    #expect(numbers(of: sum) == single.map { $0 * 2 })
    let statistics = CacheStatistics(counters: sum)
    // Compares by name, because the order of a shard's counters follows their memory accesses.
    let reached = namedNumbers(of: statistics)
    // Late hits are hits, and a snapshot subtracts them from the misses.
    for (name, number) in namedNumbers(of: sum) where name != "lateHits" { #expect(reached[name] == number, "\(name)") }
  }

  @Test func `the hit ratio counts both tiers, and is zero before the first lookup`() {
    var counters = ShardCounters()
    #expect(CacheStatistics(counters: counters).hitRatio == 0)
    counters.memoryHits = 2
    counters.diskHits = 1
    #expect(CacheStatistics(counters: counters, misses: 1).hitRatio == 0.75)
  }

  @Test func `a table has aligned columns`() {
    var counters = ShardCounters()
    counters.memoryHits = 1_234_567
    let memory = MemoryStatistics(entryCount: 12, cost: 3_456, costLimit: 65_536, countLimit: 100)
    let lines = CacheStatistics(counters: counters, misses: 89, memory: memory, disk: SecondTierStatistics())
      .description.split(separator: "\n")
    #expect(Set(lines.map(\.count)).count == 1)
    #expect(lines[0].hasPrefix("hit ratio ") && lines[0].hasSuffix(" 100.0 %"))
    #expect(lines[1].hasPrefix("hits in memory ") && lines[1].hasSuffix(" 1,234,567"))
    #expect(lines.contains { $0.hasPrefix("limit on entries ") && $0.hasSuffix(" 100") })
    #expect(lines.contains { $0.hasPrefix("disk ") && $0.hasSuffix(" active") })
  }

  @Test func `a store's table names its caches in order`() {
    let store = StoreStatistics(caches: ["b": CacheStatistics(), "a": CacheStatistics()])
    let titles = store.description.split(separator: "\n").filter { $0.hasPrefix("cache ") }
    #expect(titles == ["cache \"a\"", "cache \"b\""])
  }

  @Test func `a flight without waiters is not counted as a failure`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(.memory, on: executor)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(1)) }
      let load = subject.load("a", fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      load.cancel()
      _ = await load.result
      gate.open()
      while origin.runningCount > 0 { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }
      try #require(subject.cache.statistics.cancellations == 1)
      try #require(subject.cache.statistics.failures == 0)
    }
  }

  @Test func `waiters are counted while they wait, and a cancelled caller is counted once`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.memory, on: executor)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(1)) }
      let loads = (0..<3).map { _ in subject.load("a", fetch: origin.fetch) }
      // On some schedules this comes before the load begins, joins or waits.
      let early = subject.load("a", fetch: origin.fetch)
      early.cancel()
      _ = await early.result
      while subject.cache.statistics.waiterCount < 3 { await Task.yield() }
      let before = subject.cache.statistics.cancellations
      try #require(before <= 1 && subject.cache.statistics.waiterCount == 3)
      loads[1].cancel()
      _ = await loads[1].result
      try #require(subject.cache.statistics.waiterCount == 2)
      try #require(subject.cache.statistics.cancellations == before + 1)
      gate.open()
      for load in loads { _ = await load.result }
      try #require(subject.cache.statistics.waiterCount == 0)
      try #require(subject.cache.statistics.cancellations == before + 1)
    }
  }

  private func numbers(of value: Any) -> [Int] {
    Mirror(reflecting: value).children.compactMap { $0.value as? Int }
  }

  private func namedNumbers(of value: Any) -> [String: Int] {
    let numbers = Mirror(reflecting: value).children.compactMap { child in
      (child.value as? Int).map { (child.label ?? "", $0) }
    }
    return Dictionary(uniqueKeysWithValues: numbers)
  }
}
