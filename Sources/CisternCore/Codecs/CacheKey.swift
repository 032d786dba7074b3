/// A key that can be written to disk. Each key has one encoding, and equal keys have the same one.
///
/// Strings, fixed-width integers, byte arrays, `Data`, `UUID` and `URL` are keys. A custom key type defines its bytes.
///
/// The cache calls both requirements inside read transactions, and `withKeyBytes` also under locks. They must return
/// quickly, must not block, and must not use the cache.
public protocol CacheKey: Hashable, Sendable {
  /// Calls `body` with the key's bytes.
  ///
  /// Distinct keys must have distinct bytes. The bytes may have any length, including zero.
  ///
  /// - Parameter body: A closure that uses the bytes during the call only.
  /// - Returns: The result of `body`.
  /// - Throws: The error that `body` throws.
  func withKeyBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result

  /// Creates the key with these bytes. Returns nil if no key has them.
  ///
  /// - Parameter keyBytes: The bytes that `withKeyBytes(_:)` passed to its closure.
  init?(keyBytes: RawSpan)
}

extension CacheKey {
  /// Returns whether a key has these bytes. Makes no string.
  @inlinable
  @inline(__always)
  static func isKey(_ bytes: RawSpan) -> Bool {
    self == String.self ? String.isUTF8(bytes) : Self(keyBytes: bytes) != nil
  }

  /// Returns whether the key's bytes begin with these bytes.
  package func hasKeyBytesPrefix(_ prefix: [UInt8]) -> Bool {
    withKeyBytes { $0.starts(with: prefix) }
  }
}
