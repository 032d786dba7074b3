import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore
@testable import Eviction

/// Threads whose shards evict from each other.
struct EvictionThreadsTests {
  @Test(arguments: [2, 16])
  func `limits hold and nothing is lost while shards evict from each other`(shardCount: Int) async throws {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.shardCount = shardCount
    let limit = 2_000
    let cache = try Cache<Int, Int>(costLimit: limit, weigher: { $0 }, configuration: configuration)
    let table = cache.table
    await withDiscardingTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(thread))
          for step in 0..<20_000 {
            let key = generator.next(below: 2_000)
            if cache[key] == nil { cache[key] = 1 + key % (step % 100 == 0 ? 300 : 20) }
            if step % 64 == 0 { #expect(table.budget.cost <= limit) }
            if step % 5_000 == 4_999 { cache.removeAll() }
          }
        }
      }
    }
    #expect(table.budget.peakCost <= limit)
    #expect(table.memoryCost == table.budget.cost)
    #expect(cache.checkInvariants() == [])
  }

  @Test func `shards that report at once lose no insertion and no entry`() async {
    let lifetimes = CacheLifetimes(shardCount: 4)
    await withDiscardingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          lifetimes.beginLearning()
          var clock = ShardClock(shardCount: 4, insertions: 1)
          var observed = ObservedLifetimes()
          for _ in 0..<5_000 {
            let earlier = clock.now
            clock.tick()
            observed.noteUse(after: 1, age: 5)
            clock.noteReport(lifetimes.report(insertions: clock.unreported, entries: 1))
            lifetimes.take(&observed)
            #expect(clock.now > earlier)
            #expect(lifetimes.densities[1, 0] > 0)
          }
        }
      }
    }
    #expect(lifetimes.insertions == 20_001)
    #expect(lifetimes.entryCount == 20_000)
  }
}
