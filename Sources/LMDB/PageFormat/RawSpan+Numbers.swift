#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension RawSpan {
  /// Returns the little-endian number at `offset`, at any alignment. Traps if it is out of bounds.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
    // The called method checks the bounds. Every bit pattern is a valid number.
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Returns whether these bytes precede the others in LMDB's key order: bytewise, and a prefix precedes a longer
  /// key.
  func comesBefore(_ other: RawSpan) -> Bool {
    let common = Swift.min(byteCount, other.byteCount)
    guard common > 0 else { return byteCount < other.byteCount }
    let order = unsafe withUnsafeBytes { left in
      // Both base addresses exist, because neither span is empty. Both have at least `common` bytes.
      unsafe other.withUnsafeBytes { right in unsafe memcmp(left.baseAddress!, right.baseAddress!, common) }
    }
    return order == 0 ? byteCount < other.byteCount : order < 0
  }
}

extension [UInt8] {
  /// The bytes as a span that cannot outlive the array.
  var checkedBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      // Every byte of the array is initialized.
      unsafe span.bytes
    }
  }
}
