/// The step that ``Checksum`` and ``KeyHash`` are made of: the halves of the product, one over the other, so that what comes
/// of it depends on every bit of both numbers. Wang Yi's, of wyhash.
@inlinable
@inline(__always)
func multiplyFold(_ left: UInt64, _ right: UInt64) -> UInt64 {
  let product = left.multipliedFullWidth(by: right)
  return product.high ^ product.low
}

extension RawSpan {
  /// Eight bytes from `offset`, the first the lowest. Not checked: the caller keeps it in bounds.
  @unsafe
  @inline(__always)
  func uncheckedWord(at offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }
}
