import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// Values that an invalidation concerns and that memory evicts before a sweep finds them.
struct InvalidatedEvictionTests {
  enum Invalidation: CaseIterable, Sendable {
    case tag, prefix
  }

  enum Eviction: CaseIterable, Sendable {
    case sets, trim

    func apply(to cache: Cache<String, Int>) {
      switch self {
      case .sets: for key in ["b1", "b2"] { cache[key] = 0 }
      case .trim: cache.trim(toCost: 0)
      }
    }
  }

  @Test(arguments: Invalidation.allCases, Eviction.allCases)
  func `the eviction of an invalidated value does not save the fetch that refreshes it`(
    invalidation: Invalidation, eviction: Eviction
  ) throws {
    // The other policies can evict the set values instead.
    for policy in eviction == .sets ? [.lru] : EvictionPolicyKind.allCases {
      try SeededSchedule.explore(seeds: 10) { executor in
        var settings: Store.Configuration = .ignoringMemoryPressure
        settings.taskExecutor = executor
        settings.evictionPolicy = policy
        let clock = ManualClock()
        settings.clock = clock
        let cache = try Cache<String, Int>(
          countLimit: 2, expiry: .after(.seconds(10), graceStale: .seconds(1000)), configuration: settings)
        cache.setValue(1, forKey: "k", tags: ["t"])
        clock.advance(by: .seconds(20))
        let gate = Gate()
        let origin = ScriptedOrigin<String, Int> { _, _ in .gated(gate, .value(2)) }
        try #require(try await cache.value(forKey: "k", fetch: origin.fetch) == 1)
        await gate.arrivals(atLeast: 1)
        // Nothing suspends here, so no sweep runs in between.
        switch invalidation {
        case .tag: cache.removeAll(tagged: "t")
        case .prefix: cache.removeAll(withPrefix: "k")
        }
        eviction.apply(to: cache)
        // The value has left memory, and the invalidation its flight.
        try #require(!cache.table.keys(where: { _ in true }).contains("k"))
        gate.open()
        for _ in 0..<100 { await Task.yield() }
        try #require(cache["k"] == nil)
        try #require(cache.statistics.inProgressCount == 0)
      }
    }
  }

  @Test func `a removal by tag is in force although its version has the low bits of an older one`() throws {
    let cache = try Cache<String, Int>(configuration: .ignoringMemoryPressure)
    func invalidate(_ tag: String, raisingVersionBy difference: UInt64) {
      cache.table.invalidate { pending in
        pending.add(tag: tag, at: InvalidationVersion(number: pending.newest.number + difference))
      } concerns: { _, tags in
        tags.contains(tag)
      } whileLocked: {
        InvalidationEffects(endedEdits: [])
      }
    }
    // At once, and in steps between which no sweep runs.
    for steps in [1, 2, 4, 16] as [UInt64] {
      cache.setValue(1, forKey: "a", tags: ["t"])
      try #require(cache["a"] == 1)
      for step in 0..<steps { invalidate(step == 0 ? "t" : "u", raisingVersionBy: (1 << 24) / steps) }
      #expect(cache["a"] == nil)
    }
  }

  @Test func `sweeps keep the values that many invalidations do not concern`() async throws {
    let cache = try Cache<String, Int>(configuration: .ignoringMemoryPressure)
    cache.setValue(1, forKey: "a", tags: ["t"])
    for _ in 0..<8 {
      cache.table.invalidate { pending in
        pending.add(tag: "u", at: InvalidationVersion(number: pending.newest.number + (1 << 22)))
      } concerns: { _, _ in
        false
      } whileLocked: {
        InvalidationEffects(endedEdits: [])
      }
      await cache.table.sweepOnce()
    }
    #expect(cache["a"] == 1)
  }

  @Test func `a table that opens just below the limit of versions keeps the values that no invalidation concerns`() {
    let table = EntryTable<String, Int>(
      shardCount: 1, policy: .lru, budget: MemoryBudget(costLimit: 100),
      newestInvalidation: InvalidationVersion(number: 1 << 23 - 1))
    let key = table.hashed("a")
    #expect(table.set(1, cost: 1, forKey: key.key, hash: key.hash))
    table.invalidate { pending in
      pending.add(tag: "u", at: pending.newest.next())
    } concerns: { _, _ in
      false
    } whileLocked: {
      InvalidationEffects(endedEdits: [])
    }
    #expect(table.peek(key)?.value == 1)
  }
}
