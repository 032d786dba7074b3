import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// The reasons of removals from memory, as statistics and observers have them.
struct EvictionReasonTests {
  @Test func `a trim of a full cache counts evictions by cost`() throws {
    let cache = try Cache<Int, Int>(countLimit: 10, configuration: .ignoringMemoryPressure)
    for key in 0..<10 { cache[key] = key }
    cache.trim(toCost: 0)
    #expect(cache.statistics.evictionsByCost == 10 && cache.statistics.evictionsByCount == 0)
  }

  @Test func `a value that costs more than the one it replaces evicts others by cost`() throws {
    let cache = try Cache<Int, Int>(
      costLimit: 100, countLimit: 10, weigher: { $0 }, configuration: .ignoringMemoryPressure)
    for key in 0..<10 { cache[key] = 10 }
    cache[0] = 20
    #expect(cache.statistics.evictionsByCost == 1 && cache.statistics.evictionsByCount == 0)
    for key in 10..<13 { cache[key] = 1 }
    #expect(cache.statistics.evictionsByCost == 2 && cache.statistics.evictionsByCount == 1)
  }

  @Test func `a write that takes its room from another cache counts the eviction by the limit that it exceeds`() throws
  {
    let store = try Store.inMemory(memoryLimit: .bytes(100), configuration: .ignoringMemoryPressure)
    func cache(_ name: String, countLimit: Int? = nil) throws -> Cache<Int, Int> {
      try store.cache(
        name, of: Int.self, keyedBy: Int.self,
        configuration: CacheConfiguration(countLimit: countLimit, weigher: { $0 }))
    }
    let (full, other) = (try cache("full", countLimit: 1), try cache("other"))
    full[0] = 1
    for key in 0..<11 { other[key] = 9 }
    // Full by its count. The dearer values need room of the store.
    for cost in 2...50 { full[0] = cost }
    #expect(full[0] == 50 && full.statistics.memory.entryCount == 1)
    let statistics = [full.statistics, other.statistics]
    #expect(statistics.allSatisfy { $0.evictionsByCount == 0 } && other.statistics.evictionsByCost >= 5)
  }

  @Test func `an invalidation counts the values that it removes, and no fetch`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.memory, on: executor)
      let gate = Gate()
      let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(1)) }
      let load = subject.load("a1", fetch: origin.fetch)
      await gate.arrivals(atLeast: 1)
      subject.cache["a2"] = 2
      subject.cache.removeAll(withPrefix: "a")
      try #require(subject.cache["a1"] == nil && subject.cache["a2"] == nil)
      try #require(subject.cache.statistics.invalidations == 1)
      gate.open()
      _ = await outcome(load)
    }
  }

  @Test(arguments: [Expiry.after(.seconds(10)), .after(.seconds(10), graceStale: .seconds(10)), .never])
  func `an evicted value whose time is up is announced as expired`(expiry: Expiry) throws {
    for isTrim in [false, true] {
      try SeededExecutor.run(seed: 0) { executor in
        let clock = ManualClock()
        var settings: Store.Configuration = .ignoringMemoryPressure
        settings.taskExecutor = executor
        settings.clock = clock
        let cache = try Cache<String, Int>(countLimit: 1, expiry: expiry, configuration: settings)
        let changes = Recorder<String>()
        cache["a"] = 1
        let token = cache.observe(.keys(["a"])) { changes.record("\($0.event)") }
        // In grace for one of the lifetimes.
        clock.advance(by: .seconds(15))
        if isTrim { cache.trim(toCost: 0) } else { cache["b"] = 1 }
        while changes.count == 0 { await Task.yield() }
        let cause = expiry == .after(.seconds(10)) ? "expired" : "evicted"
        try #require(changes.elements == ["removed(\"a\", CisternCore.RemovalCause.\(cause))"])
        token.cancel()
      }
    }
  }
}
