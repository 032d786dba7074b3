import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Loads without a fetch.
@Suite struct CachedValueTests {
  @Test func `a cached value is returned fresh or stale from either tier, and its absence is an error`() throws {
    let clock = ManualClock()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.clock = clock
    let store = try Store(
      secondTier: FaultInjectingTier(), memoryLimit: .mebibytes(1), configuration: configuration)
    let cache = try store.cache(
      "numbers", of: Int.self, keyedBy: String.self, expiry: .after(.seconds(10), graceStale: .seconds(10)))
    cache["k"] = 1
    var loaded = try cache.cachedValue(forKey: "k")
    #expect(loaded.value == 1 && loaded.source == .memory && !loaded.isStale)
    cache.trim(toCost: 0)
    loaded = try cache.cachedValue(forKey: "k")
    #expect(loaded.value == 1 && loaded.source == .secondTier && !loaded.isStale)
    clock.advance(by: .seconds(15))
    loaded = try cache.cachedValue(forKey: "k")
    #expect(loaded.value == 1 && loaded.source == .memory && loaded.isStale)
    cache.trim(toCost: 0)
    loaded = try cache.cachedValue(forKey: "k")
    #expect(loaded.value == 1 && loaded.source == .secondTier && loaded.isStale)
    clock.advance(by: .seconds(15))
    let error = #expect(throws: CisternError.self) { _ = try cache.cachedValue(forKey: "k") }
    #expect(error?.code == .notCached)
    #expect(cache.statistics.flights == 0)
  }
}
