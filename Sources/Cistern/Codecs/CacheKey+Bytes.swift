/// Bytes are their own encoding.
extension [UInt8]: CacheKey {
  /// Calls `body` with the bytes, uncopied. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // Bytes of any value can be read as bytes.
    try unsafe body(span.bytes)
  }

  /// The bytes, copied.
  @inlinable
  public init?(keyBytes: RawSpan) {
    self = keyBytes.copiedBytes()
  }
}
