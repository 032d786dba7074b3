#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension RawSpan {
  /// The byte at `offset`; traps out of bounds.
  @inlinable
  @inline(__always)
  package func byte(at offset: Int) -> UInt8 {
    // Checked against the bounds by the call; every pattern is a byte.
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Whether both hold the same bytes.
  @inlinable
  @inline(__always)
  package func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    guard byteCount > 0 else { return true }
    return unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in
        // Both have a start, since they are not empty, and the same length.
        unsafe memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
      }
    }
  }
}
