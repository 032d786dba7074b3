import CSupport
import CisternCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension RawSpan {
  /// Returns the little-endian number at `offset`, which needs no alignment. Traps if the number is out of bounds.
  @inline(__always)
  func integer<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
    // The call checks the bounds, and every bit pattern is a number.
    Number(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Prefetches the cache lines of the first bytes, so that the processor loads them in parallel.
  @inline(__always)
  func prefetch() {
    for offset in stride(from: 0, to: min(byteCount, Self.prefetchedSize), by: 64) { prefetchLine(at: offset) }
  }

  /// The number of bytes to prefetch: as many lines as a processor loads at once, and at most one page boundary.
  static var prefetchedSize: Int { 2048 }

  /// Prefetches the cache line at the offset. Does nothing if the offset is beyond the end.
  @inline(__always)
  func prefetchLine(at offset: Int) {
    guard offset < byteCount else { return }
    // The base address is not nil, because the span has a byte at the offset.
    unsafe withUnsafeBytes { unsafe cistern_prefetch($0.baseAddress! + offset) }
  }
}

extension MutableRawSpan {
  /// Copies `source` to `offset`. Traps if the source does not fit.
  @_lifetime(self: copy self)
  @inline(__always)
  mutating func copy(_ source: RawSpan, to offset: Int) {
    precondition(offset >= 0 && source.byteCount <= byteCount - offset)
    guard source.byteCount > 0 else { return }
    unsafe withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { bytes in
        // The precondition ensures that the copy is in bounds. A mutable span never overlaps another span.
        unsafe (target.baseAddress! + offset).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      }
    }
  }
}

extension MutableSpan where Element == UInt64 {
  /// A mutable view of the words as bytes.
  var bytesForWriting: MutableRawSpan {
    @_lifetime(&self)
    @inline(__always)
    mutating get {
      // Every pattern of bytes is a valid word.
      unsafe mutableBytes
    }
  }
}
