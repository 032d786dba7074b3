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
}
