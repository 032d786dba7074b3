import Eviction

/// The eviction policies that a store can be given.
public enum EvictionPolicyKind: String, Sendable, Hashable, CaseIterable {
  /// Least hit density: learns from the requests themselves how likely entries are to be used soon, by how often and how
  /// long ago they were, and weighs that against their cost. The default.
  case leastHitDensity = "lhd"
  /// S3-FIFO, with queues and ghost measured in cost: resists scans, and what is wanted once goes in the order in which
  /// it came.
  case s3FIFO = "s3fifo"
  /// Least recently used: for those who need to predict what goes next.
  case lru

  package func makePolicy() -> any EvictionPolicy {
    switch self {
    case .leastHitDensity: LeastHitDensity()
    case .s3FIFO: S3FIFO()
    case .lru: LRU()
    }
  }
}
