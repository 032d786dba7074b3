/// Turns values into bytes and back, for the second tier.
///
/// Both functions are called outside all locks and transactions, on the thread or task that stores or reads. They may
/// throw. A value that cannot be encoded is reported. It is stored in memory only, and only if the cache has a weigher. Bytes
/// that cannot be decoded are a miss, are counted, and are removed.
public protocol Codec<Value>: Sendable {
  /// What is encoded.
  associatedtype Value: Sendable

  /// The value as bytes.
  func encode(_ value: Value) throws -> [UInt8]

  /// The value that `bytes` stand for.
  func decode(_ bytes: [UInt8]) throws -> Value

  /// The size of the encoded value in bytes, where it can be told without encoding; else nil, which is what a codec
  /// that does not implement it answers.
  func encodedSize(of value: Value) -> Int?

  /// Identifies the format of the bytes. A store keeps it beside a cache's records. The cache does not open with a codec that
  /// has another identifier, because that codec's values would be garbage.
  ///
  /// A codec that does not implement it has its type's name, without its module: "ZipCodec<Article>". Implement it if the
  /// type may be renamed, or if its properties change the format. Codecs that read each other's bytes may have the same
  /// identifier.
  var formatIdentifier: String { get }
}

extension Codec {
  /// The name of the codec's type.
  public var formatIdentifier: String { "\(Self.self)" }

  /// Unknown without encoding.
  @inlinable
  public func encodedSize(of value: Value) -> Int? { nil }
}
