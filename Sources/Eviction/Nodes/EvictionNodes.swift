/// A view of a shard's eviction nodes, indexed by slot number. It is valid within the critical section that created
/// it.
///
/// The view is not generic over the slots' types, so that policies need no specialization.
@safe
@usableFromInline
package struct EvictionNodes: ~Escapable {
  // The slot table owns all buffers and outlives this view, as the lifetime dependency states. All slot
  // numbers come from the table or from links between its nodes, so they are in bounds.
  @usableFromInline let nodes: UnsafeMutablePointer<EvictionNode>
  @usableFromInline let controls: UnsafeMutablePointer<UInt64>
  /// The number of groups of eight slots in the table.
  @usableFromInline let groupCount: Int
  @usableFromInline let uses: EvictionUses

  @_lifetime(borrow owner)
  @inlinable
  package init<Owner: ~Copyable & ~Escapable>(
    nodes: UnsafeMutablePointer<EvictionNode>, controls: UnsafeMutablePointer<UInt64>, groupCount: Int,
    uses: EvictionUses, owner: borrowing Owner
  ) {
    unsafe self.nodes = nodes
    unsafe self.controls = controls
    self.groupCount = groupCount
    unsafe self.uses = uses
  }

  /// The node of an entry.
  @inlinable
  package subscript(number: SlotNumber) -> EvictionNode {
    get { unsafe nodes[number.index] }
    nonmutating _modify { yield unsafe &nodes[number.index] }
  }

  /// The use of an entry.
  @inlinable
  package subscript(use number: SlotNumber) -> EvictionUse {
    get { unsafe uses.address(number).pointee }
    nonmutating _modify { yield unsafe &uses.address(number).pointee }
  }

  /// Returns the occupied slots of a group, including entries without a value.
  @inline(__always)
  func entries(inGroup group: Int) -> Entries {
    precondition(group < groupCount)
    return Entries(offsets: ControlWord.full(unsafe controls[group]), first: UInt32(truncatingIfNeeded: group &* 8))
  }

  struct Entries {
    fileprivate var offsets: ControlWord.Offsets
    fileprivate let first: UInt32

    @inline(__always)
    mutating func next() -> SlotNumber? {
      offsets.next().map { SlotNumber(first &+ UInt32(truncatingIfNeeded: $0)) }
    }
  }
}
