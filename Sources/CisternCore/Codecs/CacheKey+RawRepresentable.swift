/// A type whose raw value is a key only needs to declare its conformance:
///
///     struct ArticleID: RawRepresentable, CacheKey {
///       let rawValue: UInt64
///     }
///
/// The key bytes are those of the raw value. Equal keys must have equal raw values, which is the default.
extension CacheKey where Self: RawRepresentable, RawValue: CacheKey {
  /// Calls `body` with the raw value's bytes.
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try rawValue.withKeyBytes(body)
  }

  /// Creates the key whose raw value has these bytes. Returns nil if they do not form a valid raw value.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard let rawValue = RawValue(keyBytes: keyBytes) else { return nil }
    self.init(rawValue: rawValue)
  }
}
