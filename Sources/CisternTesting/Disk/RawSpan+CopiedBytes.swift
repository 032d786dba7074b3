extension RawSpan {
  /// Its bytes, copied.
  var copiedBytes: [UInt8] {
    // The buffer is only read, inside the call that lends it.
    unsafe withUnsafeBytes { unsafe [UInt8]($0) }
  }
}

extension [UInt8] {
  /// Its bytes, borrowed. (`span.bytes` counts as unsafe for the sake of element types with padding, which a byte has not.)
  var borrowedBytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }
}
