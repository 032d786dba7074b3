/// Where a slot keeps its key: the beginning of its memory. A string is kept as ``TextPlace`` says, any other key as it is.
@safe
@usableFromInline
struct KeyPlace<Key: Hashable & Sendable> {
  // Of a slot, for which its control byte says whether there is a key.
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable
  init(_ address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  /// Whether keys are strings, which have code of their own. A constant where the caller is compiled for its types.
  @inlinable
  @inline(__always)
  static var isForText: Bool { Key.self == String.self }

  @inlinable
  static var byteCount: Int { isForText ? TextPlace.byteCount : MemoryLayout<Key>.size }

  @inlinable
  var text: TextPlace { unsafe TextPlace(address) }

  /// Where the key is, if it is kept as it is.
  @inlinable
  var plain: UnsafeMutablePointer<Key> { unsafe address.assumingMemoryBound(to: Key.self) }

  @inlinable
  @inline(__always)
  func initialize(to key: Key) {
    // The casts are of values to the type that they have.
    if Self.isForText { return text.initialize(to: unsafe unsafeBitCast(key, to: String.self)) }
    unsafe address.initializeMemory(as: Key.self, to: key)
  }

  /// Whether this is the key.
  @inlinable
  @inline(__always)
  func holds(_ key: Key) -> Bool {
    if Self.isForText { return text.holds(unsafe unsafeBitCast(key, to: String.self)) }
    return unsafe plain.pointee == key
  }

  @inlinable
  var key: Key {
    if Self.isForText { return unsafe unsafeBitCast(text.key, to: Key.self) }
    return unsafe plain.pointee
  }

  /// What is to be let go of outside the lock; nil where nothing is. The place is free then.
  @inlinable
  func take() -> Key? {
    if Self.isForText { return unsafe unsafeBitCast(text.take(), to: Key?.self) }
    return unsafe plain.move()
  }

  @inlinable
  func deinitialize() {
    if Self.isForText { return text.deinitialize() }
    unsafe plain.deinitialize(count: 1)
  }

  /// Takes over the key of another place, which is free then.
  @inlinable
  func moveInitialize(from other: KeyPlace) {
    // A string may be moved by its bytes: nothing points to where it lies.
    if Self.isForText { return unsafe address.copyMemory(from: other.address, byteCount: TextPlace.byteCount) }
    // Not by `moveInitialize`, which writes as many bytes as keys in an array are apart: what is behind a key may begin earlier.
    unsafe address.initializeMemory(as: Key.self, to: other.plain.move())
  }
}
