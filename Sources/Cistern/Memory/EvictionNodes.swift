/// Where the nodes are, for a policy: by slot number. Valid inside the critical section that it was made in.
///
/// Not generic over the slots' types, so that a policy is compiled once.
@safe
@usableFromInline
package struct EvictionNodes: ~Escapable {
  // The slot table, which owns all three, outlives this view, as the lifetime states. Numbers come from the table and from
  // links between its nodes only, so that they are of entries in the table.
  @usableFromInline let nodes: UnsafeMutablePointer<EvictionNode>
  @usableFromInline let controls: UnsafeMutablePointer<UInt64>
  /// The groups of eight slots that the table has.
  @usableFromInline let groupCount: Int
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let slotStride: Int
  @usableFromInline let useOffset: Int

  @_lifetime(borrow owner)
  @inlinable
  init<Owner: ~Copyable & ~Escapable>(
    nodes: UnsafeMutablePointer<EvictionNode>, controls: UnsafeMutablePointer<UInt64>, groupCount: Int,
    slots: UnsafeMutableRawPointer, slotStride: Int, useOffset: Int, owner: borrowing Owner
  ) {
    unsafe self.nodes = nodes
    unsafe self.controls = controls
    self.groupCount = groupCount
    unsafe self.slots = slots
    self.slotStride = slotStride
    self.useOffset = useOffset
  }

  /// The place and cost of an entry.
  @inlinable
  package subscript(number: SlotNumber) -> EvictionNode {
    get { unsafe nodes[number.index] }
    nonmutating _modify { yield unsafe &nodes[number.index] }
  }

  /// The use of an entry.
  @inlinable
  package subscript(use number: SlotNumber) -> EvictionUse {
    get { unsafe useAddress(number).pointee }
    nonmutating _modify { yield unsafe &useAddress(number).pointee }
  }

  /// The entries of a group of slots, in progress or not.
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

  @inlinable
  func useAddress(_ number: SlotNumber) -> UnsafeMutablePointer<EvictionUse> {
    let slot = unsafe slots + number.index &* slotStride
    return unsafe (slot + useOffset).assumingMemoryBound(to: EvictionUse.self)
  }
}
