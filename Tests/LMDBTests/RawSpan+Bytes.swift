extension Array<UInt8> {
  /// The array's bytes, borrowed. (`span.bytes` counts as unsafe, for element types that have padding.)
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// A copy of borrowed bytes.
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// A copy of borrowed bytes; nil of none.
  init?(copying bytes: RawSpan?) {
    guard let bytes else { return nil }
    self.init(copying: bytes)
  }
}
