/// The place of a key at the start of a slot. ``TextPlace`` defines the form of a string; another key is stored as it
/// is.
@safe
@usableFromInline
struct KeyPlace<Key: Hashable & Sendable> {
  // The address of a slot. The control byte of the slot says whether it holds a key.
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable
  init(_ address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  /// Whether keys are strings, which use separate code. Constant in code that is specialized for the key's type.
  @inlinable
  @inline(__always)
  static var isForText: Bool { Key.self == String.self }

  @inlinable
  static var byteCount: Int { isForText ? TextPlace.byteCount : MemoryLayout<Key>.size }

  @inlinable
  var text: TextPlace { unsafe TextPlace(address) }

  /// The address of a key that is stored as it is.
  @inlinable
  var plain: UnsafeMutablePointer<Key> { unsafe address.assumingMemoryBound(to: Key.self) }

  @inlinable
  @inline(__always)
  func initialize(to key: Key) {
    // Each cast is safe: it converts a value to the type that it has.
    if Self.isForText { return text.initialize(to: unsafe unsafeBitCast(key, to: String.self)) }
    unsafe address.initializeMemory(as: Key.self, to: key)
  }

  /// Returns whether the place holds this key.
  @inlinable
  @inline(__always)
  func holds(_ key: Key) -> Bool {
    if Self.isForText { return text.holds(unsafe unsafeBitCast(key, to: String.self)) }
    if unsafe plain.pointee == key { return true }
    // A key that does not equal itself, such as NaN, is found by its hash alone. Otherwise, its entry would stay forever.
    return unsafe key != key && plain.pointee != plain.pointee && plain.pointee.hashValue == key.hashValue
  }

  @inlinable
  var key: Key {
    if Self.isForText { return unsafe unsafeBitCast(text.key, to: Key.self) }
    return unsafe plain.pointee
  }

  /// Removes the key from the place, which is free afterwards.
  ///
  /// - Returns: The object that the caller must release outside the lock; nil if the place held no object.
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

  /// Moves the key from another place, which is free afterwards.
  @inlinable
  func moveInitialize(from other: KeyPlace) {
    // A string may be moved by copying its bytes, because it does not refer to its own address.
    if Self.isForText { return unsafe address.copyMemory(from: other.address, byteCount: TextPlace.byteCount) }
    // `moveInitialize` would write a whole stride of the key's type. The slot's content may begin before the end of
    // the stride.
    unsafe address.initializeMemory(as: Key.self, to: other.plain.move())
  }
}
