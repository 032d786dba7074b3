/// The part of the eviction state that a hit writes. It is in the entry's slot, which the hit has already read.
@usableFromInline
package struct EvictionUse: BitwiseCopyable, Sendable {
  /// The number of hits, as far as the policy counts them.
  @usableFromInline package var frequency: UInt8 = 0
  /// The queue that contains the node.
  @usableFromInline package var queue = Queue.none

  /// The queues of all policies. Each policy uses a subset.
  @usableFromInline
  package enum Queue: UInt8, BitwiseCopyable, Sendable {
    /// In no queue: the entry has no value yet.
    case none
    /// On probation: a new entry.
    case small
    /// Proven: an entry that was requested again. A policy without a small queue puts all entries here.
    case main
    /// Among the candidates for the next evictions.
    case candidates
  }

  @inlinable
  package init() {}
}
