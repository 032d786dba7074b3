#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension RawSpan {
  /// The little-endian number at `offset`, at whatever alignment; traps out of bounds.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
    // Checked against the bounds by the call; every pattern is a number.
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Whether these bytes come before the others in LMDB's order of keys: byte by byte, the shorter first.
  func comesBefore(_ other: RawSpan) -> Bool {
    let common = Swift.min(byteCount, other.byteCount)
    guard common > 0 else { return byteCount < other.byteCount }
    let order = unsafe withUnsafeBytes { left in
      // Both have a start, since neither is empty, and at least `common` bytes.
      unsafe other.withUnsafeBytes { right in unsafe memcmp(left.baseAddress!, right.baseAddress!, common) }
    }
    return order == 0 ? byteCount < other.byteCount : order < 0
  }
}

extension [UInt8] {
  /// The bytes, as a view that ends with the array.
  var checkedBytes: RawSpan {
    @_lifetime(borrow self)
    get {
      // Every byte of an array of bytes is initialised.
      unsafe span.bytes
    }
  }
}
