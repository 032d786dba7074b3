import Cistern
import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Evictions across the shards of a cache, together with the close of the store and with losses on disk.
@Suite struct EvictionAndCloseTests {
  private static let keys = (0..<12).map { "k\($0)" }
  private static let limit = 60

  private struct Fixture {
    let tier: FaultInjectingTier
    let store: Store
    let cache: Cache<String, Int>
    let log = ChangeFold()

    init(_ commits: FaultInjectingTier.CommitMode, on executor: SeededExecutor) throws {
      tier = FaultInjectingTier(commits: commits, taskExecutor: executor)
      var configuration = Store.Configuration.ignoringMemoryPressure(clock: ManualClock(), taskExecutor: executor)
      configuration.shardCount = 4
      store = try Store(secondTier: tier, memoryLimit: .bytes(limit), configuration: configuration)
      var settings = CacheConfiguration<Int>()
      settings.weigher = { 5 + abs($0) % 7 }
      cache = try store.cache("values", of: Int.self, keyedBy: String.self, configuration: settings)
    }
  }

  @Test(arguments: [FaultInjectingTier.CommitMode.immediate, .onDemand])
  func `limits and changes are right whenever the store closes`(commits: FaultInjectingTier.CommitMode) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let fixture = try Fixture(commits, on: executor)
      let (tier, cache, log) = (fixture.tier, fixture.cache, fixture.log)
      let token = cache.observe { log.add($0) }
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<3 {
          group.addTask(executorPreference: executor) {
            for (number, key) in Self.keys.enumerated() where number % 3 != writer {
              await cache.setValueWithoutBlocking(number * 10 + writer, forKey: key)
              await Task.yield()
              _ = cache[Self.keys[(number + 5) % 12]]
            }
          }
        }
        group.addTask(executorPreference: executor) {
          for key in Self.keys { _ = try? await cache.value(forKey: key) { _ in 500 } }
        }
        group.addTask(executorPreference: executor) {
          for key in Self.keys.prefix(6) {
            tier.evict(key, from: "values")
            await Task.yield()
            tier.commit()
            await Task.yield()
          }
        }
        group.addTask(executorPreference: executor) {
          for _ in 0..<executor.seed % 23 { await Task.yield() }
          try? await fixture.store.close()
        }
      }
      try await Self.settle(cache, log, 1)
      try #require(cache.table.memoryCost <= Self.limit)
      try #require(cache.checkInvariants() == [])
      let held = Self.keys.filter { cache.isInMemory($0) }
      for key in held { try #require(log.contents[key] == cache[key]) }
      // The tier is closed: memory has the last copies.
      cache.trim(toCost: 0)
      try await Self.settle(cache, log, 2)
      for key in held { try #require(log.contents[key] == nil && cache[key] == nil) }
      token.cancel()
    }
  }

  /// Waits until the observer has received every earlier change.
  private static func settle(_ cache: Cache<String, Int>, _ log: ChangeFold, _ number: Int) async throws {
    cache["end"] = number
    while log.end != number { await Task.yield() }
  }
}
