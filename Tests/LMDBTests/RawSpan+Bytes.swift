extension Array<UInt8> {
  /// The array's bytes, borrowed. (`span.bytes` counts as unsafe, for element types that have padding.)
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// A copy of borrowed bytes. Not inlined: where the optimiser sees that nobody uses the copy, it frees that before it is
  /// written.
  @inline(never)
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// A copy of borrowed bytes; nil of none.
  init?(copying bytes: RawSpan?) {
    guard let bytes else { return nil }
    self.init(copying: bytes)
  }
}
