import Cistern

/// The memory tier of a replay. Keys are numbers, and each value is its cost.
struct ReplayTier {
  private let cache: Cache<Int, Int>

  /// - Parameters:
  ///   - policy: The eviction policy.
  ///   - costLimit: The limit, which must be greater than zero.
  ///   - shardCount: The number of shards.
  /// - Throws: `CisternError` if the limit is invalid.
  init(policy: EvictionPolicyKind, costLimit: Int, shardCount: Int) throws(CisternError) {
    var configuration = Store.Configuration()
    configuration.evictionPolicy = policy
    configuration.respondsToMemoryPressure = false
    configuration.shardCount = shardCount
    cache = try Cache(costLimit: costLimit, weigher: { $0 }, configuration: configuration)
  }

  /// Performs "get; on a miss, load and insert". Returns whether the request was a hit.
  func request(_ key: Int, cost: Int) async throws -> Bool {
    if cache.value(forKey: key) != nil { return true }
    _ = try await cache.value(forKey: key) { _ in cost }
    return false
  }
}
