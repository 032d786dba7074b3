extension RawSpan {
  /// Returns the bytes in a new array.
  ///
  /// This method must not be inlined. Otherwise, the optimizer frees an unused array before the bytes are written to
  /// it. An array that is filled in place avoids this, but is slower.
  @inlinable
  @inline(never)
  package func copiedBytes() -> [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0) }
  }
}

extension [UInt8] {
  /// The bytes as a span that cannot outlive the array.
  @inlinable
  package var rawSpan: RawSpan {
    @_lifetime(borrow self)
    borrowing get { unsafe span.bytes }
  }
}
