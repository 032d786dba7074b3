extension RawSpan {
  /// The bytes, in an array of their own.
  ///
  /// Not inlined: where the optimiser sees that nobody uses the copy, it frees that before it is written. Memory of an array
  /// that is filled in place is safe from that, and takes 460 instructions more.
  @inlinable
  @inline(never)
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
