/// An entry's position in the eviction order, and its cost.
///
/// Insertion and removal write to it, and hits do not. Nodes are separate from slots, so that slots stay small.
@usableFromInline
package struct EvictionNode: BitwiseCopyable, Sendable {
  /// The slot that entered the queue after this one.
  @usableFromInline package var newer = SlotNumber.none
  /// The slot that entered the queue before this one.
  @usableFromInline package var older = SlotNumber.none
  /// The lower half of the key's hash. It locates the entry when the table is rebuilt, and it identifies the entry
  /// in a ghost table.
  @usableFromInline package var fingerprint: UInt32
  /// The entry's cost, valid while the node is linked.
  @usableFromInline package var cost: UInt32 = 0

  @inlinable
  package init(fingerprint: UInt32) {
    self.fingerprint = fingerprint
  }
}

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
