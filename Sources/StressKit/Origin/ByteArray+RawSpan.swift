extension [UInt8] {
  /// The bytes, as a view that lasts as long as the array is borrowed.
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      // Bytes have no padding.
      unsafe span.bytes
    }
  }
}
