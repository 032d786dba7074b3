import CMemoryHints

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension RawSpan {
  /// The byte at `offset`; traps out of bounds.
  @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    // Checked against the bounds by the call; every pattern is a byte.
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// The little-endian number at `offset`, at whatever alignment; traps out of bounds.
  @inline(__always)
  func integer<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
    // Checked against the bounds by the call; every pattern is a number.
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Has the lines of memory of the first bytes fetched, before they are read one after the other.
  @inline(__always)
  func prefetch() {
    for offset in stride(from: 0, to: min(byteCount, Self.prefetchedSize), by: 64) { prefetchLine(at: offset) }
  }

  /// As many lines as a processor fetches at once, and no page that is not the first one's neighbour.
  static var prefetchedSize: Int { 2048 }

  /// Has the line of memory at the offset fetched; does nothing beyond the end.
  @inline(__always)
  func prefetchLine(at offset: Int) {
    guard offset < byteCount else { return }
    // There is a start, since there is a byte at the offset.
    unsafe withUnsafeBytes { unsafe cistern_prefetch($0.baseAddress! + offset) }
  }

  /// Whether both hold the same bytes.
  @inline(__always)
  func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    guard byteCount > 0 else { return true }
    return unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in
        // Both have a start, since they are not empty, and the same length.
        unsafe memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
      }
    }
  }

  /// Whether these bytes come before the others in LMDB's order: byte by byte, the shorter first.
  func precedes(_ other: RawSpan) -> Bool {
    let common = Swift.min(byteCount, other.byteCount)
    guard common > 0 else { return byteCount < other.byteCount }
    let order = unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in
        // Both have a start, since neither is empty, and at least `common` bytes.
        unsafe memcmp(left.baseAddress!, right.baseAddress!, common)
      }
    }
    return order == 0 ? byteCount < other.byteCount : order < 0
  }
}

extension MutableRawSpan {
  /// Copies `source` to `offset`; traps where it does not fit.
  @_lifetime(self: copy self)
  @inline(__always)
  mutating func copy(_ source: RawSpan, to offset: Int) {
    precondition(offset >= 0 && source.byteCount <= byteCount - offset)
    guard source.byteCount > 0 else { return }
    unsafe withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { bytes in
        // In bounds by the precondition; a source view and a mutable one never overlap.
        unsafe (target.baseAddress! + offset).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      }
    }
  }
}

extension MutableSpan where Element == UInt64 {
  /// The words as bytes, to write.
  var bytesForWriting: MutableRawSpan {
    @_lifetime(&self)
    @inline(__always)
    mutating get {
      // Any bytes are words.
      unsafe mutableBytes
    }
  }
}
