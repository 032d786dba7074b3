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
