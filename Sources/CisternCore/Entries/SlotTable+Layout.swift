import Eviction

/// The layout of a slot: the key, as ``KeyPlace`` stores it, and the content after it.
extension SlotTable {
  /// The bytes from the start of a slot to its content.
  @inlinable
  @inline(__always)
  static var contentOffset: Int { roundUp(KeyPlace<Key>.byteCount, to: MemoryLayout<Content>.alignment) }

  /// The bytes from the start of a slot to the next slot.
  @inlinable
  @inline(__always)
  static var stride: Int {
    roundUp(
      contentOffset + MemoryLayout<Content>.size,
      to: max(MemoryLayout<Key>.alignment, MemoryLayout<Content>.alignment))
  }

  @inlinable
  @inline(__always)
  static func roundUp(_ count: Int, to alignment: Int) -> Int { (count + alignment - 1) & ~(alignment - 1) }

  /// Returns the bytes from the start of a slot's content to one of its fields.
  @inlinable
  @inline(__always)
  static func offset(of part: PartialKeyPath<Content>) -> Int {
    guard let offset = MemoryLayout<Content>.offset(of: part) else {
      preconditionFailure("the field must be a stored property")
    }
    return offset
  }

  /// Returns the place of a slot's key. Valid until the table is rebuilt or destroyed.
  @inlinable
  @inline(__always)
  func keyPlace(_ number: SlotNumber) -> KeyPlace<Key> {
    // In bounds: the number belongs to one of the table's slots.
    unsafe KeyPlace(slots + number.index &* Self.stride)
  }

  /// Returns the address of a slot's content. Valid until the table is rebuilt or destroyed.
  @unsafe
  @inlinable
  @inline(__always)
  func content(_ number: SlotNumber) -> UnsafeMutablePointer<Content> {
    // In bounds: the number belongs to one of the table's slots. The memory is never bound to another type.
    unsafe (slots + number.index &* Self.stride + Self.contentOffset).assumingMemoryBound(to: Content.self)
  }

  /// Returns the address of a field of a slot's content.
  @unsafe
  @inlinable
  @inline(__always)
  func part<Part: ~Copyable>(_ path: PartialKeyPath<Content>, of number: SlotNumber, as: Part.Type)
    -> UnsafeMutablePointer<Part>
  {
    unsafe (UnsafeMutableRawPointer(content(number)) + Self.offset(of: path)).assumingMemoryBound(to: Part.self)
  }
}
