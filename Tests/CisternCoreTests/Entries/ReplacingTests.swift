import CisternTestSupport
import Testing

@testable import CisternCore

/// Sets that replace an existing value, with equal cost and with another cost.
struct ReplacingTests {
  private func cache(_ policy: EvictionPolicyKind, costLimit: Int) throws -> Cache<String, Int> {
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.evictionPolicy = policy
    return try Cache(costLimit: costLimit, weigher: { max($0, 1) }, configuration: configuration)
  }

  @Test(arguments: [EvictionPolicyKind.lru, .s3FIFO])
  func `a set that replaces a value of equal cost counts as a use`(policy: EvictionPolicyKind) throws {
    let cache = try cache(policy, costLimit: 20)
    for number in 0..<20 { cache.setValue(1, forKey: "\(number)") }
    for _ in 0..<3 { cache.setValue(1, forKey: "0") }
    for number in 20..<30 { cache.setValue(1, forKey: "\(number)") }
    #expect(cache.value(forKey: "0") == 1)
    #expect(cache.value(forKey: "1") == nil)
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a set that replaces a value of another cost updates the total cost`(
    policy: EvictionPolicyKind
  ) throws {
    let cache = try cache(policy, costLimit: 10)
    cache.setValue(2, forKey: "a")
    cache.setValue(7, forKey: "a")
    #expect(cache.statistics.memory.cost == 7)
    cache.setValue(7, forKey: "a")
    cache.setValue(1, forKey: "a")
    #expect(cache.statistics.memory.cost == 1)
    // A value that exceeds the memory limit is not stored, and the older value is removed.
    cache.setValue(11, forKey: "a")
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.statistics.memory.cost == 0)
  }

  @Test func `each set that replaces a value is counted, and observers receive the last value`() async throws {
    let cache = try cache(.leastHitDensity, costLimit: 10)
    cache.setValue(1, forKey: "a")
    var updates = cache.updates(forKey: "a").makeAsyncIterator()
    for _ in 0..<3 { cache.setValue(1, forKey: "a") }
    #expect(await updates.next()?.value == 1)
    #expect(cache.statistics.stores == 4)
  }
}
