import CSupport

/// The place of a string key in a slot: its bytes if they are ASCII and 16 to 39 in number; otherwise, the string
/// itself.
///
/// A string of more than 15 bytes has separate storage. A comparison there would load one or two more cache lines,
/// which is most of a look-up's latency. Bytes in the slot come with the slot's own line. The string's storage is not
/// retained; reading the key creates a new string. A shorter string has its bytes in its own two words.
///
/// The bytes must be ASCII, because ASCII is in normalization form C in every version of Unicode.
@safe
@usableFromInline
struct TextPlace {
  // The address of a slot. The control byte of the slot says whether it holds a key.
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable static var byteCount: Int { 40 }
  /// The numbers of bytes that the place can store, before the byte that holds their count.
  static var counts: ClosedRange<Int> { 16...byteCount - 1 }
  /// The count that marks a string that is stored as it is.
  @inlinable static var stringMarker: UInt8 { .max }

  @inlinable
  init(_ address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  @inlinable
  var count: UInt8 {
    // In bounds: the last byte of the place, which is initialized together with the key.
    get { unsafe address.load(fromByteOffset: Self.byteCount - 1, as: UInt8.self) }
    nonmutating set { unsafe address.storeBytes(of: newValue, toByteOffset: Self.byteCount - 1, as: UInt8.self) }
  }

  /// The address of a string that is stored as it is.
  @inlinable
  var string: UnsafeMutablePointer<String> { unsafe address.assumingMemoryBound(to: String.self) }

  @usableFromInline
  func initialize(to key: String) {
    // The buffer is used only during the call.
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
    count = Self.stringMarker
  }

  /// Returns whether the place holds this key. Compares short strings and copies of the stored string without a call.
  @inlinable
  @inline(__always)
  func holds(_ key: String) -> Bool {
    unsafe count == Self.stringMarker && haveSameWords(string.pointee, key) || holdsInOtherForm(key)
  }

  // This attribute tells the caller that the function writes nothing visible. Otherwise, the caller would count a
  // reference to the key.
  @_effects(readonly)
  @inline(never)
  @usableFromInline
  func holdsInOtherForm(_ key: String) -> Bool {
    guard count != Self.stringMarker else { return unsafe areEqualStrings(string.pointee, key) }
    // The buffer is used only during the call.
    let hasSameBytes = unsafe key.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe bytes.count == Int(count) && cistern_are_equal(address, bytes.baseAddress, bytes.count)
    }
    return hasSameBytes == true || hasOtherForm(key)
  }

  /// Returns whether a string with other bytes equals the stored key. Some characters outside ASCII are canonically
  /// equivalent to ASCII characters.
  @_effects(readonly)
  @inline(never)
  private func hasOtherForm(_ key: String) -> Bool {
    // The buffer is used only during the call.
    let isASCII = unsafe key.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)).isASCII
    }
    return isASCII != true && key == self.key
  }

  @usableFromInline
  var key: String {
    guard count != Self.stringMarker else { return unsafe string.pointee }
    return unsafe String(unsafeUninitializedCapacity: Int(count)) { bytes in
      // The bytes are ASCII, and therefore valid UTF-8.
      unsafe UnsafeMutableRawBufferPointer(bytes).copyMemory(
        from: UnsafeRawBufferPointer(start: address, count: Int(count)))
      return Int(count)
    }
  }

  /// Removes the key from the place, which is free afterwards.
  ///
  /// - Returns: The string that the caller must release; nil if the place held bytes.
  @inlinable
  func take() -> String? { count == Self.stringMarker ? unsafe string.move() : nil }

  @inlinable
  func deinitialize() {
    if count == Self.stringMarker { unsafe string.deinitialize(count: 1) }
  }
}
