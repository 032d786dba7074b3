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
}
