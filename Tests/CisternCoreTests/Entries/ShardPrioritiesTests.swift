import Testing

@testable import CisternCore

/// Shards compare their next eviction candidates, so that they keep the entries that one global order would keep.
struct ShardPrioritiesTests {
  @Test func `over several turns every shard below half of the given density is selected, and no other`() {
    let standings = ShardPriorities(count: 4)
    standings.note(10, of: 0)
    standings.note(4, of: 1)
    standings.note(5, of: 2)
    #expect((0..<3).map { standings.worse(than: 10, of: 0, rotation: $0) } == [1, nil, nil])
    // A shard without entries can take space from every shard with entries.
    #expect((0..<3).map { standings.worse(than: .infinity, of: 3, rotation: $0) } == [0, 1, 2])
    #expect((0..<3).allSatisfy { standings.worse(than: nil, of: 3, rotation: $0) == nil })
    standings.note(nil, of: 1)
    #expect(standings[1] == 4)
    #expect(ShardPriorities(count: 1).worse(than: 1, of: 0, rotation: 0) == nil)
  }

  @Test func `an idle shard gives its space to the shards in use`() throws {
    var configuration = Store.Configuration()
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
    var configuration = Store.Configuration()
    configuration.shardCount = 4
    let cache = try Cache<Int, Int>(costLimit: 400, weigher: { $0 }, configuration: configuration)
    for key in 0..<4_000 { cache[key] = 1 + key % 7 }
    let table = cache.table
    for shard in 0..<4 {
      func count() -> Int { table.shards.withShard(at: shard) { $0.policy.total.count } }
      try #require(count() > 0)
      // Evicts to the last entry. The density of an empty shard is infinite.
      while count() > 0 {
        table.evictAnywhere(from: shard)
        let lowest = table.shards.withShard(at: shard) { $0.policy.lowestDensity }
        if let lowest { #expect(table.priorities[shard] == lowest) }
      }
      #expect(table.priorities[shard] == .infinity)
    }
  }
}
