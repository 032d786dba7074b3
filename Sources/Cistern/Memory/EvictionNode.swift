/// An entry's place in its policy's order, and what it costs. Touched when entries come and go, not by hits: nodes are
/// kept apart from the slots, so that these stay small.
@usableFromInline
package struct EvictionNode: BitwiseCopyable, Sendable {
  /// The slot that entered the queue after this one.
  @usableFromInline package var newer = SlotNumber.none
  /// The slot that entered the queue before this one.
  @usableFromInline package var older = SlotNumber.none
  /// The low half of the key's hash: it finds the entry a place in a new table, and is what a ghost remembers.
  @usableFromInline package var fingerprint: UInt32
  /// The entry's cost, while it is linked.
  @usableFromInline package var cost: UInt32 = 0

  @inlinable
  package init(fingerprint: UInt32) {
    self.fingerprint = fingerprint
  }
}

/// What a hit writes: in the entry's own slot, which the hit has read already.
@usableFromInline
package struct EvictionUse: BitwiseCopyable, Sendable {
  /// Hits, as far as the policy counts them.
  @usableFromInline package var frequency: UInt8 = 0
  /// Where the node is linked.
  @usableFromInline package var queue = Queue.none

  /// The queues of all policies; a policy uses those that it needs.
  @usableFromInline
  package enum Queue: UInt8, BitwiseCopyable, Sendable {
    /// In no queue: an entry in progress.
    case none
    /// On probation: a new entry.
    case small
    /// Proven: an entry that was wanted again; where a policy has no small queue, any.
    case main
    /// Among those that are likely to go next.
    case candidates
  }

  @inlinable
  package init() {}
}

/// The number of a slot in its shard's table, until that is rebuilt. Four bytes, and an optional of its own, because
/// every entry has several.
@usableFromInline
package struct SlotNumber: BitwiseCopyable, Sendable, Equatable {
  @usableFromInline package let rawValue: UInt32

  @inlinable
  package init(_ rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// As an offset into arrays.
  @inlinable
  package var index: Int { Int(rawValue) }

  /// No slot.
  @inlinable
  package static var none: SlotNumber { SlotNumber(.max) }
}
