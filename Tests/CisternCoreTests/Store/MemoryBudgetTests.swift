import CisternTesting
import CisternTestSupport
import Testing

@testable import CisternCore
@testable import Eviction

/// One limit over all shards of all caches that share it.
struct MemoryBudgetTests {
  @Test func `a reservation takes all or nothing, here and in the parent, and returns the budget that is short`() {
    let store = MemoryBudget(costLimit: 100)
    let cache = MemoryBudget(costLimit: 60, countLimit: 3, parent: store)
    #expect(cache.reserve(cost: 50, count: 1) == nil)
    #expect(cache.reserve(cost: 11, count: 1)?.budget === cache)
    #expect(store.reserve(cost: 45, count: 1) == nil)
    #expect(cache.reserve(cost: 10, count: 1)?.budget === store)
    #expect(cache.cost == 50 && cache.count == 1 && store.cost == 95 && store.count == 2)
    #expect(cache.reserve(cost: 1, count: 1) == nil)
    #expect(cache.reserve(cost: 1, count: 1) == nil)
    #expect(cache.reserve(cost: 1, count: 1)?.reason == .count && cache.reserve(cost: 60, count: 0)?.reason == .cost)
    #expect(cache.reserve(cost: 1, count: 1)?.budget === cache)
    #expect(cache.reserve(cost: -20, count: 0) == nil)
    cache.release(cost: 32, count: 3)
    store.release(cost: 45, count: 1)
    #expect(cache.cost == 0 && cache.count == 0 && store.cost == 0 && store.count == 0)
    #expect(store.peakCost == 97 && cache.peakCost == 52)
    #expect(cache.largestCost == 60 && cache.overallLimit == (60, 3))
  }

  private func store(limit: Int) throws -> Store {
    try Store.inMemory(memoryLimit: .bytes(limit), configuration: .ignoringMemoryPressure)
  }

  private func cache(_ store: Store, _ name: String, countLimit: Int? = nil) throws -> Cache<Int, Int> {
    try store.cache(
      name, of: Int.self, keyedBy: Int.self,
      configuration: CacheConfiguration(countLimit: countLimit, weigher: { _ in 1 }))
  }

  @Test func `a cache at its own limit evicts only its own entries`() throws {
    let store = try store(limit: 1_000)
    let large = try cache(store, "large")
    let small = try cache(store, "small", countLimit: 10)
    for key in 0..<900 { large[key] = key }
    for key in 0..<5_000 { small[key] = key }
    #expect(large.statistics.memory.entryCount == 900)
    #expect(small.statistics.memory.entryCount == 10)
    #expect(small.statistics.evictionsByCount == 4_990)
  }

  @Test func `a cache that outlives its store and another cache gets the space that the other one used`() throws {
    func remaining() throws -> Cache<Int, Int> {
      let store = try store(limit: 100)
      let other = try cache(store, "other")
      for key in 0..<100 { other[key] = key }
      return try cache(store, "remaining")
    }
    let survivor = try remaining()
    for key in 0..<200 { survivor[key] = key }
    #expect(survivor.statistics.memory.entryCount == 100)
    #expect(survivor.checkInvariants() == [])
  }

  @Test func `a busy cache leaves space to a new one as it needs it`() throws {
    let store = try store(limit: 1_000)
    let old = try cache(store, "old")
    let new = try cache(store, "new")
    for key in 0..<10_000 { old[key] = key }
    #expect(old.statistics.memory.entryCount == 1_000)
    // Both caches are equally busy, so that they share the limit over time.
    for key in 0..<10_000 {
      old[key] = key
      new[key] = key
    }
    let share = new.statistics.memory.entryCount
    #expect((200...800).contains(share), "\(share)")
    // The old cache rests and cannot keep values that it no longer uses.
    for key in 10_000..<40_000 { new[key] = key }
    #expect(new.statistics.memory.entryCount > 900)
    #expect(store.statistics.memory.cost <= 1_000)
  }

  @Test func `caches give up space in proportion to what they hold`() throws {
    let store = try store(limit: 10_000)
    let large = try cache(store, "large")
    let small = try cache(store, "small")
    let new = try cache(store, "new")
    for key in 0..<8_000 { large[key] = key }
    for key in 0..<2_000 { small[key] = key }
    for key in 0..<2_000 { new[key] = key }
    let fromLarge = 8_000 - large.statistics.memory.entryCount
    let fromSmall = 2_000 - small.statistics.memory.entryCount
    // The expected ratio is 80 to 20. The bounds allow about twelve standard deviations to either side.
    #expect(fromLarge + fromSmall > 1_500)
    #expect(fromSmall * 100 > (fromLarge + fromSmall) * 9, "\(fromSmall) and \(fromLarge)")
    #expect(fromSmall * 100 < (fromLarge + fromSmall) * 31, "\(fromSmall) and \(fromLarge)")
  }

  @Test func `a trim evicts down to the target over all caches, and accepts a negative target as zero`() throws {
    let store = try store(limit: 1_000)
    let caches = try (0..<5).map { try cache(store, "\($0)") }
    for cache in caches { for key in 0..<200 { cache[key] = key } }
    store.trimMemory(to: .bytes(300))
    #expect(store.statistics.memory.cost == 300)
    for cache in caches { #expect(cache.statistics.memory.entryCount < 200) }
    store.budget.releaseHalf()
    #expect(store.statistics.memory.cost == 150)
    store.trimMemory(to: .bytes(-1))
    #expect(store.statistics.memory.cost == 0)
    for cache in caches { #expect(cache.checkInvariants() == []) }
  }

  @Test func `an entry as large as the whole limit takes space from all caches`() throws {
    let store = try store(limit: 500)
    let small = try cache(store, "small")
    for key in 0..<500 { small[key] = key }
    let dear = try store.cache(
      "dear", of: Int.self, keyedBy: Int.self, configuration: CacheConfiguration(weigher: { $0 }))
    dear[1] = 500
    #expect(dear[1] == 500)
    #expect(small.statistics.memory.entryCount == 0)
    dear[2] = 501
    #expect(dear[2] == nil && dear[1] == 500)
  }
}

/// The same properties on real threads.
struct MemoryBudgetThreadsTests {
  @Test func `reservations of many threads never exceed a limit, here or in the parent, at any instant`() async {
    let store = MemoryBudget(costLimit: 100, countLimit: 20)
    let caches = (0..<2).map { _ in MemoryBudget(costLimit: 70, countLimit: 15, parent: store) }
    await withTaskGroup { group in
      for index in 0..<4 as Range<Int> {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(index))
          var taken: [(cache: MemoryBudget, cost: Int)] = []
          for _ in 0..<20_000 {
            let cache = caches[generator.next(below: 2)]
            let cost = 1 + generator.next(below: 30)
            if generator.next(below: 2) == 0, cache.reserve(cost: cost, count: 1) == nil {
              taken.append((cache, cost))
            } else if let last = taken.popLast() {
              last.cache.release(cost: last.cost, count: 1)
            }
            if store.cost > 100 || store.count > 20 || caches.contains(where: { $0.cost > 70 || $0.count > 15 }) {
              Issue.record("a limit was exceeded")
            }
          }
          for (cache, cost) in taken { cache.release(cost: cost, count: 1) }
        }
      }
    }
    #expect(store.peakCost <= 100 && caches.allSatisfy { $0.peakCost <= 70 })
    #expect(store.cost == 0 && store.count == 0 && caches.allSatisfy { $0.cost == 0 && $0.count == 0 })
  }

  @Test func `the limits of the store and of a cache hold while threads write, read, remove and trim`() async throws {
    let store = try Store.inMemory(memoryLimit: .bytes(2_000), configuration: .ignoringMemoryPressure)
    let caches = try (0..<3).map { index in
      try store.cache(
        "\(index)", of: Int.self, keyedBy: Int.self,
        configuration: CacheConfiguration(memoryLimit: index == 0 ? .bytes(300) : nil, weigher: { $0 }))
    }
    await withTaskGroup { group in
      for index in 0..<4 as Range<Int> {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(index))
          for _ in 0..<4_000 {
            let cache = caches[generator.next(below: 3)]
            let key = generator.next(below: 300)
            switch generator.next(below: 100) {
            case 0: cache.removeAll()
            case 1: store.trimMemory(to: .bytes(generator.next(below: 2_000)))
            case 2..<12: cache[key] = nil
            case 12..<40: _ = cache[key]
            default: cache[key] = 1 + generator.next(below: 400)
            }
            if store.budget.cost > 2_000 { Issue.record("the store's limit was exceeded") }
          }
        }
      }
    }
    #expect(store.budget.peakCost <= 2_000)
    #expect(caches[0].statistics.memory.peakCost <= 300)
    for cache in caches { #expect(cache.checkInvariants() == []) }
    #expect(caches.reduce(0) { $0 + $1.statistics.memory.cost } == store.budget.cost)
  }

  @Test func `threads that concurrently fill two caches of a store both get space`() async throws {
    let store = try Store.inMemory(memoryLimit: .bytes(500), configuration: .ignoringMemoryPressure)
    let caches = try (0..<2).map { index in
      try store.cache(
        "\(index)", of: Int.self, keyedBy: Int.self, configuration: CacheConfiguration(weigher: { _ in 1 }))
    }
    for key in 0..<500 { caches[0][key] = key }
    await withTaskGroup { group in
      for cache in caches {
        group.addTask { for key in 0..<10_000 { cache[key] = key } }
      }
    }
    for cache in caches { #expect(cache.checkInvariants() == []) }
    #expect(store.budget.cost == 500)
    #expect(caches[1].statistics.stores == 10_000)
  }
}
