/// Converts values to bytes and back for the second tier.
///
/// The cache calls a codec outside all locks and transactions, on the thread or task that stores or reads. An
/// ``InPlaceCodec`` decodes inside a transaction, without a copy of the bytes. Both functions may throw:
///
/// - If a value cannot be encoded, the cache reports it. It stores the value in memory only, and only if the cache
///   has a weigher.
/// - If bytes cannot be decoded, the lookup is a miss. The cache counts the record and removes it.
public protocol Codec<Value>: Sendable {
  /// The type of the values.
  associatedtype Value: Sendable

  /// Returns the bytes of a value.
  func encode(_ value: Value) throws -> [UInt8]

  /// Returns the value that the bytes encode.
  func decode(_ bytes: [UInt8]) throws -> Value

  /// Returns the size of the encoded value in bytes, or nil if only encoding can tell.
  ///
  /// The default implementation returns nil.
  func encodedSize(of value: Value) -> Int?

  /// The identifier of the byte format, which a store keeps with a cache's records.
  ///
  /// A cache does not open with a codec that has another identifier, because it would decode the records wrongly.
  ///
  /// The default is the name of the codec's type without its module, such as "ZipCodec<Article>". Implement this
  /// property if the type may be renamed, or if its properties change the format. Codecs that can read one another's
  /// bytes may have the same identifier.
  var formatIdentifier: String { get }
}

extension Codec {
  /// The name of the codec's type.
  public var formatIdentifier: String { "\(Self.self)" }

  /// Returns nil, which means that only encoding can tell the size.
  @inlinable
  public func encodedSize(of value: Value) -> Int? { nil }
}
