import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore

/// The release of a table's contents. Values are released without delaying the caller, and memory is returned.
struct ClearingTests {
  private final class Witness: Sendable {
    let onDeinit: @Sendable () -> Void

    init(onDeinit: @escaping @Sendable () -> Void) {
      self.onDeinit = onDeinit
    }

    deinit { onDeinit() }
  }

  @Test func `a clear removes all entries immediately and releases many values in the background`() throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.taskExecutor = executor
      let cache = try Cache<Int, Witness>(configuration: configuration)
      let gone = Recorder<Bool>()
      for key in 0..<3_000 { cache[key] = Witness { gone.record(true) } }
      cache.removeAll()
      try #require(gone.count == 0)
      try #require(cache.statistics.memory.cost == 0 && cache[1] == nil)
      cache[1] = Witness { gone.record(true) }
      while gone.count < 3_000 { await Task.yield() }
      try #require(cache[1] != nil && gone.count == 3_000)
      try #require(cache.checkInvariants() == [])
    }
  }

  private static func slotCount(_ cache: Cache<Int, Int>) -> Int {
    let shards = cache.table.shards.count
    return (0..<shards).reduce(0) { sum, index in
      sum + cache.table.shards.withShard(at: index) { $0.slots.groupCount * 8 }
    }
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a trim frees the memory of the entry table`(policy: EvictionPolicyKind) throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.shardCount = 4
    configuration.evictionPolicy = policy
    let cache = try Cache<Int, Int>(configuration: configuration)
    func fill() { for key in 0..<20_000 { cache[key] = key } }
    fill()
    let full = Self.slotCount(cache)
    cache.trim(toCost: 100)
    #expect(cache.statistics.memory.cost == 100)
    #expect(Self.slotCount(cache) < full / 20)
    #expect(cache.checkInvariants() == [])
    fill()
    #expect(cache.statistics.memory.cost == 20_000)
    #expect(cache.checkInvariants() == [])
    cache.table.budget.trim(toCost: 0)
    #expect(Self.slotCount(cache) <= 4 * 64)
    fill()
    #expect((0..<20_000).allSatisfy { cache[$0] == $0 })
  }

  /// A value whose deinitializer adds another one.
  private final class Renewing: Sendable {
    let cache: Cache<Int, Renewing>

    init(_ cache: Cache<Int, Renewing>) { self.cache = cache }

    deinit {
      let key = Int.random(in: 0..<Int.max)
      cache[key] = Renewing(cache)
    }
  }

  @Test func `a trim ends although each evicted value adds another one`() throws {
    let cache = try Cache<Int, Renewing>(configuration: .ignoringMemoryPressure)
    for key in 0..<100 { cache[key] = Renewing(cache) }
    cache.trim(toCost: 10)
    #expect(cache.statistics.memory.entryCount == 100)
    cache.table.budget.trim(toCost: 0)
    #expect(cache.statistics.memory.entryCount == 100)
    #expect(cache.checkInvariants() == [])
  }
}
