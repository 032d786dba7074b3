extension [UInt8] {
  /// A view of the bytes. It is valid while the array is borrowed.
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      // Bytes have no padding.
      unsafe span.bytes
    }
  }
}
