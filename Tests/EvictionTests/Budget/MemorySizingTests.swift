import Testing

@testable import CisternCore
@testable import Eviction

struct MemorySizingTests {
  @Test func `shard counts are powers of two that grow with the limits up to a bound of the machine`() {
    #expect(MemorySizing.shardCount(costLimit: 1, countLimit: 1) == 1)
    #expect(MemorySizing.shardCount(costLimit: .max, countLimit: 100) == 1)
    #expect(MemorySizing.shardCount(costLimit: .max, countLimit: .max) == MemorySizing.defaultShardCount)
    var last = 0
    for exponent in 0..<62 {
      let count = MemorySizing.shardCount(costLimit: 1 << exponent, countLimit: .max)
      #expect(count & (count - 1) == 0)
      #expect((max(1, last)...MemorySizing.defaultShardCount).contains(count))
      last = count
    }
    for (processors, greatest) in [(1, 8), (2, 16), (3, 32), (8, 64), (32, 256), (1_000, 256)] {
      #expect(
        MemorySizing.shardCount(costLimit: .max, countLimit: .max, processorCount: processors) == greatest)
      #expect(MemorySizing.shardCount(costLimit: 3 << 20, countLimit: .max, processorCount: processors) == 4)
      #expect(MemorySizing.shardCount(costLimit: 1 << 20, countLimit: .max, processorCount: processors) == 1)
    }
    #expect(MemorySizing.defaultShardCount >= 8 && MemorySizing.defaultShardCount <= 256)
  }

  @Test func `if each entry costs 1, a limit on cost gives the same shards as an equal limit on count`() throws {
    for limit in [1, 1_000, 10_000, 32_000, 1_000_000] {
      #expect(
        MemorySizing.shardCount(costLimit: limit, countLimit: .max, costIsCount: true)
          == MemorySizing.shardCount(costLimit: .max, countLimit: limit))
    }
    let counted = try Cache<Int, Int>(costLimit: 32_000)
    #expect(counted.table.shards.count == MemorySizing.shardCount(costLimit: .max, countLimit: 32_000))
    let weighed = try Cache<Int, Int>(costLimit: 32_000, weigher: { _ in 1 })
    #expect(weighed.table.shards.count == 1)
  }
}
