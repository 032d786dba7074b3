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

/// The uses of the entries, each of which is a part of its slot.
@unsafe
@usableFromInline
package struct EvictionUses {
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let stride: Int
  @usableFromInline let offset: Int

  /// Creates the uses in slots of `stride` bytes. Each is `offset` bytes after the start of its slot.
  @inlinable
  package init(slots: UnsafeMutableRawPointer, stride: Int, offset: Int) {
    unsafe self.slots = slots
    unsafe self.stride = stride
    unsafe self.offset = offset
  }

  @inlinable
  func address(_ number: SlotNumber) -> UnsafeMutablePointer<EvictionUse> {
    let slot = unsafe slots + number.index &* stride
    return unsafe (slot + offset).assumingMemoryBound(to: EvictionUse.self)
  }
}
