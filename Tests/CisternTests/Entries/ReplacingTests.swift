import Testing

@testable import Cistern

/// A value in the place of another, where nothing has to be decided and where something has.
struct ReplacingTests {
  private func cache(_ policy: EvictionPolicyKind, costLimit: Int) throws -> Cache<String, Int> {
    var configuration = Store.Configuration()
    configuration.evictionPolicy = policy
    return try Cache(costLimit: costLimit, weigher: { max($0, 1) }, configuration: configuration)
  }

  @Test(arguments: [EvictionPolicyKind.lru, .s3FIFO])
  func `a value that is set in the place of one that costs as much counts as a use`(policy: EvictionPolicyKind) throws {
    let cache = try cache(policy, costLimit: 20)
    for number in 0..<20 { cache.setValue(1, forKey: "\(number)") }
    for _ in 0..<3 { cache.setValue(1, forKey: "0") }
    for number in 20..<30 { cache.setValue(1, forKey: "\(number)") }
    #expect(cache.value(forKey: "0") == 1)
    #expect(cache.value(forKey: "1") == nil)
  }

  @Test(arguments: EvictionPolicyKind.allCases)
  func `a value that is set in the place of one that costs something else is counted at its own cost`(
    policy: EvictionPolicyKind
  ) throws {
    let cache = try cache(policy, costLimit: 10)
    cache.setValue(2, forKey: "a")
    cache.setValue(7, forKey: "a")
    #expect(cache.statistics.memory.cost == 7)
    cache.setValue(7, forKey: "a")
    cache.setValue(1, forKey: "a")
    #expect(cache.statistics.memory.cost == 1)
    // Dearer than all of memory: nothing older is left.
    cache.setValue(11, forKey: "a")
    #expect(cache.value(forKey: "a") == nil)
    #expect(cache.statistics.memory.cost == 0)
  }

  @Test func `a value that is set in the place of another is counted, and observers are told of the last`() async throws
  {
    let cache = try cache(.leastHitDensity, costLimit: 10)
    cache.setValue(1, forKey: "a")
    var updates = cache.updates(forKey: "a").makeAsyncIterator()
    for _ in 0..<3 { cache.setValue(1, forKey: "a") }
    #expect(await updates.next()?.value == 1)
    #expect(cache.statistics.stores == 4)
  }
}
