import Cistern

/// The memory tier as a replay needs it: keys are numbers, and values are what they cost.
struct ReplayTier {
  private let cache: Cache<Int, Int>

  /// - Parameter costLimit: Above zero.
  init(policy: EvictionPolicyKind, costLimit: Int) throws(CisternError) {
    var configuration = Store.Configuration()
    configuration.evictionPolicy = policy
    configuration.respondsToMemoryPressure = false
    // One order over all entries: what is measured is the policy, not how evenly keys fall into shards.
    configuration.shardCount = 1
    cache = try Cache(costLimit: costLimit, weigher: { $0 }, configuration: configuration)
  }

  /// "Get; on a miss, load and insert": whether it was a hit.
  func request(_ key: Int, cost: Int) async throws -> Bool {
    if cache.value(forKey: key) != nil { return true }
    _ = try await cache.value(forKey: key) { _ in cost }
    return false
  }
}
