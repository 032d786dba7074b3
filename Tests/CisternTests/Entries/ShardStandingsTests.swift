import Testing

@testable import Cistern

/// Shards compare what goes next, and so hold what one order over all entries would.
struct ShardStandingsTests {
  @Test func `in the course of some turns every shard that is worse by half is named, and none that is not`() {
    let standings = ShardStandings(count: 4)
    standings.note(10, of: 0)
    standings.note(4, of: 1)
    standings.note(5, of: 2)
    #expect((0..<3).map { standings.worse(than: 10, of: 0, turn: $0) } == [1, nil, nil])
    // One that has nothing takes from any that has.
    #expect((0..<3).map { standings.worse(than: .infinity, of: 3, turn: $0) } == [0, 1, 2])
    #expect((0..<3).allSatisfy { standings.worse(than: nil, of: 3, turn: $0) == nil })
    standings.note(nil, of: 1)
    #expect(standings[1] == 4)
    #expect(ShardStandings(count: 1).worse(than: 1, of: 0, turn: 0) == nil)
  }

  @Test func `a shard that nobody asks gives its room to those that are asked`() throws {
    var configuration = Store.Configuration()
    configuration.shardCount = 8
    let cache = try Cache<Int, Int>(costLimit: 800, weigher: { $0 }, configuration: configuration)
    let shards = 0..<8
    func count(_ shard: Int) -> Int { cache.table.shards.withShard(at: shard) { $0.policy.total.count } }
    for key in 0..<4_000 { cache[key] = 1 }
    // Hashes differ from process to process: the one that holds most has its eighth at least.
    let idle = try #require(shards.max { count($0) < count($1) })
    func isIdle(_ key: Int) -> Bool {
      cache.table.shards.index(of: cache.table.hash(key)) == idle
    }
    let before = count(idle)
    // More than fits in the others' parts, again and again.
    let asked = (10_000..<12_000).filter { !isIdle($0) }.prefix(790)
    for _ in 0..<60 {
      for key in asked where cache[key] == nil { cache[key] = 1 }
      #expect(cache.table.memoryCost <= 800)
    }
    #expect(before >= 100)
    #expect(count(idle) < before, "\(count(idle)) of \(before)")
  }

  @Test func `a shard that gave its room says what it would let go next`() throws {
    var configuration = Store.Configuration()
    configuration.shardCount = 4
    let cache = try Cache<Int, Int>(costLimit: 400, weigher: { $0 }, configuration: configuration)
    for key in 0..<4_000 { cache[key] = 1 + key % 7 }
    let table = cache.table
    for shard in 0..<4 {
      func count() -> Int { table.shards.withShard(at: shard) { $0.policy.total.count } }
      try #require(count() > 0)
      // To the last, after which there is nothing that is worse than anything.
      while count() > 0 {
        table.evictAnywhere(from: shard)
        let lowest = table.shards.withShard(at: shard) { $0.policy.lowestDensity }
        if let lowest { #expect(table.standings[shard] == lowest) }
      }
      #expect(table.standings[shard] == .infinity)
    }
  }
}
