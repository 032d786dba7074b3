/// A key that can be written to disk: it has one encoding, and equal keys have the same.
///
/// Strings, fixed-width integers, byte arrays, `Data` and `UUID` are keys already. A type of your own states its bytes.
/// The two functions are called outside all locks, but inside read transactions: they must be quick and must not use
/// the cache.
public protocol CacheKey: Hashable, Sendable {
  /// Calls `body` with the key's bytes. Distinct keys have distinct bytes; any length will do, none included.
  func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result

  /// The key with these bytes; nil when there is none.
  init?(keyBytes: RawSpan)
}

extension CacheKey {
  /// Whether the key's bytes begin with these.
  func hasKeyBytesPrefix(_ prefix: [UInt8]) -> Bool {
    withKeyBytes { $0.byteCount >= prefix.count && $0.extracting(0..<prefix.count).hasSameBytes(as: prefix.rawSpan) }
  }
}
