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
