import Eviction

/// The eviction policies of a store.
public enum EvictionPolicyKind: String, Sendable, Hashable, CaseIterable {
  /// Least hit density. The policy learns from the requests how soon an entry is likely to have its next use. It
  /// considers the number of uses, the time since the last use, and the cost. The default.
  case leastHitDensity = "lhd"
  /// Least missed bytes. The policy learns as ``leastHitDensity`` does, but a hit counts as much as its entry costs.
  /// It keeps large entries that are likely to be used. It misses fewer bytes, and more often.
  case leastMissedBytes = "bytes"
  /// S3-FIFO, with queues and ghost table measured in cost. It resists scans. Entries that were requested only once
  /// leave in the order of their insertion.
  case s3FIFO = "s3fifo"
  /// Least recently used. Its choice of the next entry is predictable.
  case lru

  /// Makes the policies of a cache's shards.
  package func makePolicies(count: Int) -> [any EvictionPolicy] {
    switch self {
    case .leastHitDensity: makeLearningPolicies(count: count, weight: .ofMisses)
    case .leastMissedBytes: makeLearningPolicies(count: count, weight: .ofMissedCost)
    case .s3FIFO: (0..<count).map { _ in S3FIFO() }
    case .lru: (0..<count).map { _ in LRU() }
    }
  }

  private func makeLearningPolicies(count: Int, weight: CostWeight) -> [any EvictionPolicy] {
    let lifetimes = CacheLifetimes(shardCount: count)
    return (0..<count).map { _ in LeastHitDensity(lifetimes, weight: weight) }
  }
}
