extension Array<UInt8> {
  /// The array's bytes, borrowed. (`span.bytes` counts as unsafe, for element types that have padding.)
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }

  /// A copy of borrowed bytes.
  init(copying bytes: RawSpan) {
    // Not `Array` of the buffer: where the optimiser sees that the copy is not used, it frees that before it is written.
    let count = bytes.byteCount
    self = unsafe [UInt8](unsafeUninitializedCapacity: count) { copy, copied in
      // In bounds: there is room for as many.
      unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawBufferPointer(copy).copyMemory(from: $0) }
      copied = count
    }
  }

  /// A copy of borrowed bytes; nil of none.
  init?(copying bytes: RawSpan?) {
    guard let bytes else { return nil }
    self.init(copying: bytes)
  }
}
