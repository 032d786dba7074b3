#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension RawSpan {
  /// Returns the byte at `offset`. Traps if the offset is out of bounds.
  @inlinable
  @inline(__always)
  package func byte(at offset: Int) -> UInt8 {
    // The call checks the bounds, and every bit pattern is a byte.
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Returns whether both spans hold the same bytes.
  @inlinable
  @inline(__always)
  package func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    guard byteCount > 0 else { return true }
    return unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in
        // Both base addresses are not nil, because the spans are not empty. Both have the same length.
        unsafe memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
      }
    }
  }

  /// Returns whether the bytes begin with the prefix.
  @inlinable
  package func starts(with prefix: [UInt8]) -> Bool {
    prefix.isEmpty
      || byteCount >= prefix.count && extracting(0..<prefix.count).hasSameBytes(as: prefix.rawSpan)
  }

  /// Returns whether the bytes precede others in bytewise order. A prefix precedes the longer bytes.
  @inlinable
  package func precedes(_ other: RawSpan) -> Bool {
    let count = Swift.min(byteCount, other.byteCount)
    guard count > 0 else { return byteCount < other.byteCount }
    let order = unsafe withUnsafeBytes { left in
      // Both base addresses are not nil, because the spans are not empty, and both have at least `count` bytes.
      unsafe other.withUnsafeBytes { right in unsafe memcmp(left.baseAddress!, right.baseAddress!, count) }
    }
    return order == 0 ? byteCount < other.byteCount : order < 0
  }
}
