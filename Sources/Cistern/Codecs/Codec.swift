/// Turns values into bytes and back, for the second tier.
///
/// Both functions are called outside all locks and transactions, on the thread or task that stores or reads. They may
/// throw: a value that cannot be encoded stays in memory and is reported; bytes that cannot be decoded are a miss, are
/// counted, and are removed.
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
}

extension Codec {
  /// Unknown without encoding.
  @inlinable
  public func encodedSize(of value: Value) -> Int? { nil }
}
