/// The first bytes of keys, as ``CacheKey/withKeyBytes(_:)`` defines them.
///
/// A prefix selects the keys that an enumeration or a removal concerns. It compares bytes: the prefix `"caf"` matches
/// the key `"café"`. The bytes of a composite key usually begin with its most general part:
///
/// ```swift
/// thumbnails.removeAll(withPrefix: KeyPrefix(articleID))
/// ```
public struct KeyPrefix: Sendable, Hashable {
  /// The bytes with which the keys begin.
  public let bytes: [UInt8]

  /// Creates a prefix of these bytes. An empty prefix matches all keys.
  public init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// Creates a prefix of the bytes of a key or of a part of one.
  ///
  /// The bytes of a string are its normalized UTF-8.
  ///
  /// - Parameter part: A value with which the keys begin.
  public init(_ part: some CacheKey) {
    bytes = part.withKeyBytes { $0.copiedBytes() }
  }
}

extension KeyPrefix: ExpressibleByStringLiteral {
  /// Creates a prefix of the string's normalized UTF-8.
  public init(stringLiteral value: String) { self.init(value) }
}
