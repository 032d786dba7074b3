/// The step of ``Checksum`` and ``KeyHash``: combines both halves of the product with exclusive or. The result
/// depends on every bit of both numbers, unless one of them is zero.
///
/// The step is that of Wang Yi's wyhash.
@inlinable
@inline(__always)
package func multiplyFold(_ left: UInt64, _ right: UInt64) -> UInt64 {
  let product = left.multipliedFullWidth(by: right)
  return product.high ^ product.low
}

extension RawSpan {
  /// Returns the little-endian number in the eight bytes at `offset`. The caller must ensure that they are in bounds.
  @unsafe
  @inlinable
  @inline(__always)
  package func uncheckedWord(at offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }
}
