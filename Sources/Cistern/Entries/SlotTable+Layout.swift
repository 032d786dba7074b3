/// What a slot consists of: the key, as ``KeyPlace`` keeps it, and the content behind it.
extension SlotTable {
  /// The bytes from a slot's start to its content.
  @inlinable
  @inline(__always)
  static var contentOffset: Int { roundUp(KeyPlace<Key>.byteCount, to: MemoryLayout<Content>.alignment) }

  /// The bytes from a slot's start to the next one's.
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

  /// The bytes from a slot's content to a part of it.
  @inlinable
  @inline(__always)
  static func offset(of part: PartialKeyPath<Content>) -> Int {
    guard let offset = MemoryLayout<Content>.offset(of: part) else {
      preconditionFailure("a stored field has an offset")
    }
    return offset
  }

  /// Where a slot's key is. Valid for as long as the table has these slots.
  @inlinable
  @inline(__always)
  func keyPlace(_ number: SlotNumber) -> KeyPlace<Key> {
    // The number is below that of the slots.
    unsafe KeyPlace(slots + number.index &* Self.stride)
  }

  /// Where a slot's content is. Valid as the key's place is.
  @unsafe
  @inlinable
  @inline(__always)
  func content(_ number: SlotNumber) -> UnsafeMutablePointer<Content> {
    // As above. Nothing else is ever there.
    unsafe (slots + number.index &* Self.stride + Self.contentOffset).assumingMemoryBound(to: Content.self)
  }

  /// Where a part of a slot's content is.
  @unsafe
  @inlinable
  @inline(__always)
  func part<Part: ~Copyable>(_ path: PartialKeyPath<Content>, of number: SlotNumber, as: Part.Type)
    -> UnsafeMutablePointer<Part>
  {
    unsafe (UnsafeMutableRawPointer(content(number)) + Self.offset(of: path)).assumingMemoryBound(to: Part.self)
  }
}
