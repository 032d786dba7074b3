/// A type with a raw value that is a key needs nothing but to say that it is one too:
///
///     struct ArticleID: RawRepresentable, CacheKey {
///       let rawValue: UInt64
///     }
///
/// Its bytes are the raw value's. Equal ones must have equal raw values, as they do by default.
extension CacheKey where Self: RawRepresentable, RawValue: CacheKey {
  /// Calls `body` with the raw value's bytes.
  @inlinable
  public func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try rawValue.withKeyBytes(body)
  }

  /// The key whose raw value has these bytes; nil when there is none.
  @inlinable
  public init?(keyBytes: RawSpan) {
    guard let rawValue = RawValue(keyBytes: keyBytes) else { return nil }
    self.init(rawValue: rawValue)
  }
}
