import Eviction

/// The eviction policies of a store.
public enum EvictionPolicyKind: String, Sendable, Hashable, CaseIterable {
  /// Least hit density. The policy learns from the requests how soon an entry is likely to have its next use. It
  /// considers the number of uses, the time since the last use, and the cost. The default.
  case leastHitDensity = "lhd"
  /// S3-FIFO, with queues and ghost table measured in cost. It resists scans. Entries that were requested only once
  /// leave in the order of their insertion.
  case s3FIFO = "s3fifo"
  /// Least recently used. Its choice of the next entry is predictable.
  case lru

  package func makePolicy() -> any EvictionPolicy {
    switch self {
    case .leastHitDensity: LeastHitDensity()
    case .s3FIFO: S3FIFO()
    case .lru: LRU()
    }
  }
}
