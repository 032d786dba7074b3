/// The key bytes of an array are its elements.
extension [UInt8]: CacheKey {
  /// Calls `body` with the bytes, without a copy. O(1).
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    // Every byte of the array is initialized.
    try unsafe body(span.bytes)
  }

  /// Creates an array with a copy of the bytes.
  @inlinable
  public init?(keyBytes: RawSpan) {
    self = keyBytes.copiedBytes()
  }
}
