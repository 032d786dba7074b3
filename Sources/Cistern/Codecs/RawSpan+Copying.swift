extension RawSpan {
  /// The bytes, in an array of their own.
  @inlinable
  package func copiedBytes() -> [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0) }
  }
}

extension [UInt8] {
  /// A view of the bytes.
  @inlinable
  package var rawSpan: RawSpan {
    @_lifetime(borrow self)
    borrowing get { unsafe span.bytes }
  }
}
