import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The choice of victims among all shards of a cache.
struct ShardedEvictionTests {
  private func cache(
    shardCount: Int, limit: Int, policy: EvictionPolicyKind = .leastHitDensity
  ) throws -> Cache<Int, Int> {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.shardCount = shardCount
    configuration.evictionPolicy = policy
    configuration.respondsToMemoryPressure = false
    return try Cache(costLimit: limit, weigher: { $0 }, configuration: configuration)
  }

  /// Requests with a skewed distribution, among them scans of new keys.
  private func requests(_ count: Int, seed: UInt64) -> [Int] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { step in
      if step % 3_000 < 500 { return 1_000_000 + step }
      let draw = Double(generator.next(below: 1_000_000)) / 1_000_000
      return Int(4_000 * draw * draw * draw)
    }
  }

  private func misses(_ cache: Cache<Int, Int>, _ requests: [Int], cost: (Int) -> Int) async throws -> Int {
    var misses = 0
    for key in requests where cache.value(forKey: key) == nil {
      misses += 1
      let cost = cost(key)
      _ = try await cache.value(forKey: key) { _ in cost }
    }
    return misses
  }

  @Test(arguments: [(16, 1), (256, 1), (64, 500)])
  func `a cache with many shards misses at most slightly more than one with a single shard`(
    shardCount: Int, greatestCost: Int
  ) async throws {
    let requests = requests(15_000, seed: 7)
    // Costs of several decades, which depend on the key only.
    let cost = { (key: Int) in 1 + (key &* 7_919 % 97) * (key &* 104_729 % 89) * (greatestCost - 1) / (96 * 88) }
    let limit = greatestCost == 1 ? 500 : 20_000
    let one = try await misses(cache(shardCount: 1, limit: limit), requests, cost: cost)
    let many = try await misses(cache(shardCount: shardCount, limit: limit), requests, cost: cost)
    #expect(many * 100 < one * 105, "\(many) misses with \(shardCount) shards, \(one) with one")
  }

  @Test func `a shard takes the next entry of another one only if that is worse and no thread holds its lock`() throws {
    let cache = try cache(shardCount: 4, limit: 400)
    for key in 0..<4_000 { cache[key] = 1 + key % 7 }
    let table = cache.table
    for index in 0..<4 {
      func total() -> (cost: Int, count: Int) { table.shards.withShard(at: index) { $0.policy.total } }
      var evicted = Shard<Int, Int>.EvictedEntries.nothing
      let before = total()
      try #require(before.count > 1)
      #expect(
        table.shards.withShard(at: index) { _ in
          table.evict(inShard: index, below: .infinity, for: .count, into: &evicted)
        } == nil)
      #expect(table.evict(inShard: index, below: 0, for: .count, into: &evicted) == nil)
      #expect(total() == before)
      let freed = try #require(table.evict(inShard: index, below: .infinity, for: .count, into: &evicted))
      #expect(total() == (before.cost - freed, before.count - 1))
      // The next density is published, and the room is still reserved.
      if let lowest = table.shards.withShard(at: index, { $0.policy.lowestDensity }) {
        #expect(table.priorities[index] == ShardPriorities.rounded(lowest))
      }
      #expect(table.budget.cost == table.memoryCost + freed)
      table.budget.release(cost: freed, count: 1)
    }
    #expect(cache.checkInvariants() == [])
  }

  @Test func `the policy for bytes keeps large entries that are used as often as small ones`() async throws {
    var generator = SeededGenerator(seed: 3)
    let requests = (0..<20_000).map { _ in generator.next(below: 400) }
    let cost = { (key: Int) in key.isMultiple(of: 2) ? 1 : 100 }
    func large(_ policy: EvictionPolicyKind) async throws -> Int {
      let cache = try cache(shardCount: 4, limit: 5_000, policy: policy)
      _ = try await misses(cache, requests, cost: cost)
      return (0..<400).count { !$0.isMultiple(of: 2) && cache.contains($0) }
    }
    let (ofBytes, ofMisses) = (try await large(.leastMissedBytes), try await large(.leastHitDensity))
    #expect(ofBytes >= ofMisses)
    let small = try cache(shardCount: 4, limit: 5_000, policy: .leastMissedBytes)
    _ = try await misses(small, requests, cost: cost)
    #expect((0..<400).count { $0.isMultiple(of: 2) && small.contains($0) } < 150)
  }

  @Test(arguments: [false, true])
  func `an eviction from another shard is announced to an observer that registered during the write`(
    isPublication: Bool
  ) {
    let (evicted, delivered) = (Recorder<Int>(), Recorder<Void>())
    let isRegistered = Switch<Bool>()
    let budget = MemoryBudget(costLimit: 400)
    let table = EntryTable<Int, Int>(
      shardCount: 2, policy: .leastHitDensity, budget: budget,
      handlers: EntryTable.Handlers(
        // The observer registers after the writer has entered the section of its own shard.
        isObserved: {
          defer { isRegistered.set(true) }
          return isRegistered.peek() != nil
        },
        announceEviction: { key, _ in evicted.record(key) },
        deliverChanges: { if evicted.count > 0 { delivered.record(()) } }))
    budget.add(table)
    for key in (0..<6_000).map(table.hashed) where evicted.count == 0 {
      let cost = UInt32(1 + key.key % 7)
      let flight = table.makeFlight(
        for: key, priority: .medium,
        flightOptions: EntryTable.FlightOptions(taskExecutor: nil, completesAbandonedFlights: false))
      if isPublication {
        _ = table.load(key, at: MonotonicTime(nanoseconds: 0), priority: .medium) { flight }
      }
      isRegistered.set(nil)
      if isPublication {
        #expect(table.publish(key.key, cost: cost, of: flight, for: key))
        flight.complete(.value(key.key))
      } else {
        #expect(table.set(key.key, cost: cost, forKey: key.key, hash: key.hash))
      }
    }
    #expect(evicted.count == 1 && delivered.count == 1)
  }
}
