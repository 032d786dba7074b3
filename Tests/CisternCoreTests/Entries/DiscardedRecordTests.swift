import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Records that expire, or are evicted or invalidated, while a caller reads them.
struct DiscardedRecordTests {
  private func cache(over tier: FaultInjectingTier, _ clock: ManualClock) throws -> Cache<String, Int> {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.clock = clock
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(1), configuration: configuration)
    return try store.cache("numbers", of: Int.self, keyedBy: String.self)
  }

  @Test func `a record that expires and is evicted while a load reads it is reported once`() async throws {
    let tier = FaultInjectingTier(losses: .onDemand)
    let clock = ManualClock()
    let cache = try cache(over: tier, clock)
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(1)))
    cache.trim(toCost: 0)
    let changes = Recorder<String>()
    let token = cache.observe { change in changes.record("\(change.event)") }
    tier.setAfterLoad { _ in
      clock.advance(by: .seconds(2))
      _ = tier.evict("a", from: "numbers")
      tier.deliverLosses()
    }
    #expect(try await cache.value(forKey: "a") { _ in 2 } == 2)
    tier.setAfterLoad(nil)
    cache["end"] = 0
    while changes.elements.last?.contains("end") != true { await Task.yield() }
    #expect(changes.count == 3, "\(changes.elements)")
    #expect(changes.elements.count { $0.contains("removed") } == 1)
    #expect(cache.statistics.diskEvictions == 1)
    token.cancel()
  }

  @Test func `a discarded record is counted once, even if several readers find it`() throws {
    let tier = FaultInjectingTier()
    let clock = ManualClock()
    let cache = try cache(over: tier, clock)
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(1)))
    cache.trim(toCost: 0)
    clock.advance(by: .seconds(2))
    tier.setAfterLoad { _ in
      // Another reader finds the record after this reader has read it and before this reader discards it.
      tier.setAfterLoad(nil)
      #expect(cache["a"] == nil)
    }
    #expect(cache["a"] == nil)
    #expect(cache.statistics.expirations == 1)
    #expect(cache.statistics.misses == 2)
  }

  @Test(arguments: [0, 2])
  func `a fresh or stale record that is invalidated while a load reads it leaves no flight behind`(age: Int)
    async throws
  {
    let tier = FaultInjectingTier()
    let clock = ManualClock()
    let cache = try cache(over: tier, clock)
    cache.setValue(1, forKey: "a", expiry: .after(.seconds(1), graceStale: .seconds(60)), tags: ["tag"])
    cache.trim(toCost: 0)
    clock.advance(by: .seconds(age))
    tier.setAfterLoad { _ in
      tier.setAfterLoad(nil)
      cache.removeAll(tagged: "tag")
    }
    // The load began before the invalidation, so both values are valid results.
    #expect([1, 2].contains(try await cache.value(forKey: "a") { _ in 2 }))
    try #require(cache.statistics.inProgressCount == 0)
    cache.removeValue(forKey: "a")
    #expect(try await cache.value(forKey: "a") { _ in 3 } == 3)
  }
}
