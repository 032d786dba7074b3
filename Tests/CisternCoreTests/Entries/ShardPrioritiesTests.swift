import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Shards compare their next eviction candidates, so that they keep the entries that one global order would keep.
struct ShardPrioritiesTests {
  @Test func `the shard with the least density is selected if it is clearly below the given one`() {
    let priorities = ShardPriorities(count: 4)
    priorities.note(10, of: 0)
    priorities.note(4, of: 1)
    priorities.note(5, of: 2)
    #expect(priorities.worse(than: 10, of: 0) == 1)
    #expect(priorities.worse(than: 5.001, of: 2) == 1)
    #expect(priorities.worse(than: 5, of: 2) == nil)
    // A shard without entries can take space from every shard with entries.
    #expect(priorities.worse(than: .infinity, of: 3) == 1)
    #expect(priorities.worse(than: 1, of: 3) == nil)
    priorities.note(nil, of: 1)
    #expect(priorities[1] == 4)
    #expect(ShardPriorities(count: 1).worse(than: 1, of: 0) == nil)
  }

  @Test func `a shard that stored the least density compares its present one with the others`() {
    let priorities = ShardPriorities(count: 4)
    priorities.note(1, of: 0)
    priorities.note(2, of: 1)
    // The entry with density 1 gained hits.
    #expect(priorities.worse(than: 8, of: 0) == 1)
    #expect(priorities[0] == 8)
    #expect(priorities.worse(than: 2, of: 0) == nil)
  }

  @Test(arguments: [1, 2, 4, 8, 16, 32, 64, 128, 256])
  func `any sequence of stored densities selects the same shard as a search of all shards`(count: Int) {
    for seed in 0..<8 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let priorities = ShardPriorities(count: count)
      var stored = Array(repeating: Float.infinity, count: count)
      for _ in 0..<600 {
        let index = generator.next(below: count)
        stored[index] = generator.next(below: 10) == 0 ? .infinity : Float(generator.next(below: 1_000))
        priorities.note(stored[index], of: index)
        #expect(priorities[index] == stored[index])
        let asking = generator.next(below: count)
        let least = stored.indices.min { (stored[$0], $0) < (stored[$1], $1) }
        guard let least, least != asking else { continue }
        let chosen = priorities.worse(than: 1_000, of: asking)
        #expect(chosen == (stored[least] * 1.25 < 1_000 ? least : nil))
      }
    }
  }

  @Test func `an idle shard gives its space to the shards in use`() throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.shardCount = 8
    let cache = try Cache<Int, Int>(costLimit: 800, weigher: { $0 }, configuration: configuration)
    let shards = 0..<8
    func count(_ shard: Int) -> Int { cache.table.shards.withShard(at: shard) { $0.policy.total.count } }
    for key in 0..<4_000 { cache[key] = 1 }
    // Hashes differ between processes. The fullest shard holds at least its share of one eighth.
    let idle = try #require(shards.max { count($0) < count($1) })
    func isIdle(_ key: Int) -> Bool {
      cache.table.shards.index(of: cache.table.hash(key)) == idle
    }
    let before = count(idle)
    // Repeatedly sets more values than fit into the shares of the other shards.
    let asked = (10_000..<12_000).filter { !isIdle($0) }.prefix(790)
    for _ in 0..<60 {
      for key in asked where cache[key] == nil { cache[key] = 1 }
      #expect(cache.table.memoryCost <= 800)
    }
    #expect(before >= 100)
    #expect(count(idle) < before, "\(count(idle)) of \(before)")
  }

  @Test func `a shard that evicts an entry publishes the density of its next candidate`() throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.shardCount = 4
    let cache = try Cache<Int, Int>(costLimit: 400, weigher: { $0 }, configuration: configuration)
    for key in 0..<4_000 { cache[key] = 1 + key % 7 }
    let table = cache.table
    for shard in 0..<4 {
      func count() -> Int { table.shards.withShard(at: shard) { $0.policy.total.count } }
      try #require(count() > 0)
      // Evicts to the last entry. The density of an empty shard is infinite.
      while count() > 0 {
        table.evictAnywhere(from: shard, for: .count)
        let lowest = table.shards.withShard(at: shard) { $0.policy.lowestDensity }
        if let lowest { #expect(table.priorities[shard] == ShardPriorities.rounded(lowest)) }
      }
      #expect(table.priorities[shard] == .infinity)
    }
  }
}
