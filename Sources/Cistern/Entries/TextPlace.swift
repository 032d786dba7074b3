import CMemoryHints

/// A slot's place for a key that is a string: its bytes, where they are ASCII and from 16 to 39; else the string.
///
/// A string of more than 15 bytes has storage of its own. To compare it there costs a look-up one or two lines of memory more
/// than it touches otherwise, which is most of what it waits for; bytes that lie in the slot come with it. Nor is that storage,
/// 64 bytes and more, held: who asks for the key gets a string made anew. Shorter ones have their bytes in their own two words.
///
/// Only ASCII, because its bytes are in normalization form C, in every version of Unicode.
@safe
@usableFromInline
struct TextPlace {
  // Of a slot, for which its control byte says whether there is a key.
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable static var byteCount: Int { 40 }
  /// How many bytes are kept here, before the one that counts them.
  static var counts: ClosedRange<Int> { 16...byteCount - 1 }
  /// The count of a string that is kept as it is.
  @inlinable static var isString: UInt8 { .max }

  @inlinable
  init(_ address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  @inlinable
  var count: UInt8 {
    // In the place, and written with it.
    get { unsafe address.load(fromByteOffset: Self.byteCount - 1, as: UInt8.self) }
    nonmutating set { unsafe address.storeBytes(of: newValue, toByteOffset: Self.byteCount - 1, as: UInt8.self) }
  }

  /// Where the string is, if it is kept as it is.
  @inlinable
  var string: UnsafeMutablePointer<String> { unsafe address.assumingMemoryBound(to: String.self) }

  @usableFromInline
  func initialize(to key: String) {
    // The view ends with the call.
    let fits = unsafe key.utf8.withContiguousStorageIfAvailable { bytes in
      guard Self.counts.contains(bytes.count), unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)).isASCII
      else {
        return false
      }
      unsafe UnsafeMutableRawBufferPointer(start: address, count: Self.counts.upperBound).copyMemory(
        from: UnsafeRawBufferPointer(bytes))
      count = UInt8(bytes.count)
      return true
    }
    if fits == true { return }
    unsafe address.initializeMemory(as: String.self, to: key)
    count = Self.isString
  }

  /// Whether this is the key. Of short strings, and of copies of the one that is kept, that is known without a call.
  @inlinable
  @inline(__always)
  func holds(_ key: String) -> Bool {
    unsafe count == Self.isString && haveSameWords(string.pointee, key) || holdsInOtherWords(key)
  }

  // Writes nothing that others see: without that being said the caller counts a reference to the key.
  @_effects(readonly)
  @inline(never)
  @usableFromInline
  func holdsInOtherWords(_ key: String) -> Bool {
    guard count != Self.isString else { return unsafe areEqualStrings(string.pointee, key) }
    // As above.
    let hasSameBytes = unsafe key.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe bytes.count == Int(count) && cistern_are_equal(address, bytes.baseAddress, bytes.count)
    }
    return hasSameBytes == true || isSpelledOtherwise(key)
  }

  /// Whether a string that has other bytes is the key all the same: there are characters that mean one of ASCII.
  @_effects(readonly)
  @inline(never)
  private func isSpelledOtherwise(_ key: String) -> Bool {
    // As above.
    let isASCII = unsafe key.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)).isASCII
    }
    return isASCII != true && key == self.key
  }

  @usableFromInline
  var key: String {
    guard count != Self.isString else { return unsafe string.pointee }
    return unsafe String(unsafeUninitializedCapacity: Int(count)) { bytes in
      // They are ASCII, and so UTF-8.
      unsafe UnsafeMutableRawBufferPointer(bytes).copyMemory(
        from: UnsafeRawBufferPointer(start: address, count: Int(count)))
      return Int(count)
    }
  }

  /// The string that has to be let go of, if there is one. The place is free then.
  @inlinable
  func take() -> String? { count == Self.isString ? unsafe string.move() : nil }

  @inlinable
  func deinitialize() {
    if count == Self.isString { unsafe string.deinitialize(count: 1) }
  }
}
