extension Array<UInt8> {
  /// The array's bytes, borrowed. The compiler treats `span.bytes` as unsafe for element types with padding.
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// Creates a copy of borrowed bytes. Not inlined: if the optimizer sees that the copy is unused, it frees the copy
  /// before it is written.
  @inline(never)
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// Creates a copy of borrowed bytes, or nil if there are none.
  init?(copying bytes: RawSpan?) {
    guard let bytes else { return nil }
    self.init(copying: bytes)
  }
}
