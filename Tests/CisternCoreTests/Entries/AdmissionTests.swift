import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The admission of values that cost more than a sixteenth of the limit.
struct AdmissionTests {
  /// A cache of small entries that are known to be requested.
  ///
  /// The requests are for more than twice the keys that it can hold. The policy judges only after enough evictions.
  private func cache(_ policy: EvictionPolicyKind = .leastHitDensity) throws -> Cache<Int, Int> {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.evictionPolicy = policy
    let cache = try Cache<Int, Int>(costLimit: 1_000, weigher: { $0 }, configuration: configuration)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<8_000 {
      let key = generator.next(below: 60) * generator.next(below: 60)
      if cache[key] == nil { cache[key] = 2 }
    }
    return cache
  }

  @Test func `a set of a large new value is refused, until the key was set often enough`() throws {
    let cache = try cache()
    let before = cache.statistics.memory.cost
    cache.setValue(900, forKey: -1)
    #expect(cache[-1] == nil)
    #expect(cache.statistics.memory.cost == before)
    let sets = (0..<200).first { _ in
      cache.setValue(900, forKey: -1)
      return cache[-1] != nil
    }
    #expect(sets != nil)
    #expect(cache.statistics.memory.peakCost <= 1_000)
  }

  @Test func `a large fetched value is returned and not stored`() async throws {
    let cache = try cache()
    #expect(try await cache.value(forKey: -1) { _ in 900 } == 900)
    #expect(cache[-1] == nil)
    #expect(try await cache.value(forKey: -2) { _ in 2_000 } == 2_000)
    #expect(cache[-2] == nil)
    #expect(cache.statistics.memory.peakCost <= 1_000)
  }

  @Test func `a large value of a cached key is always stored, and so is the value of an edit`() throws {
    let cache = try cache()
    cache.setValue(2, forKey: -1)
    cache.setValue(900, forKey: -1)
    #expect(cache[-1] == 900)
    cache.updateValue(forKey: -2) { $0 = 800 }
    #expect(cache[-2] == 800)
  }

  @Test(arguments: [EvictionPolicyKind.lru, .s3FIFO])
  func `policies that do not learn refuse no set`(policy: EvictionPolicyKind) throws {
    let cache = try cache(policy)
    cache.setValue(900, forKey: -1)
    #expect(cache[-1] == 900)
  }

  @Test(arguments: 1...20)
  func `if all values cost the same, no set is refused, however small the cache is`(limit: Int) throws {
    let cache = try Cache<Int, Int>(costLimit: limit)
    for key in 0..<2_000 {
      cache[key % 37] = key
      #expect(cache[key % 37] == key)
    }
  }

  @Test func `a large new value is stored if it displaces no other`() async throws {
    for loads in [false, true] {
      let cache = try cache()
      cache.trim(toCost: 10)
      for key in 1...3 {
        if loads { _ = try await cache.value(forKey: -key) { _ in 300 } } else { cache[-key] = 300 }
        #expect(cache[-key] == 300)
      }
      #expect(cache.statistics.refused == 0)
    }
  }

  @Test func `a value is large by the limit, however large the limit is`() throws {
    let parent = MemoryBudget(costLimit: 1 << 40)
    #expect(!parent.isLarge(.max - 1) && parent.largestCost == Int(UInt32.max) - 1)
    let budget = MemoryBudget(costLimit: 1 << 34, parent: parent)
    #expect(!budget.isLarge(1 << 30) && budget.isLarge(1 << 30 + 1))
    #expect(!MemoryBudget(costLimit: .max).isLarge(.max - 1))
    #expect(MemoryBudget(costLimit: .max, parent: MemoryBudget(costLimit: 160)).isLarge(11))
  }
}
