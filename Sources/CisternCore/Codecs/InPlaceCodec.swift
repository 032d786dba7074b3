/// A codec that decodes values from borrowed bytes, so that a read from the disk makes no copy of them.
///
/// Numbers, strings and `Data` have such codecs. A type that is a part of its bytes, or is built from them in one pass,
/// gains most:
///
/// ```swift
/// struct PixelCodec: InPlaceCodec {
///   func encode(_ value: Pixel) -> [UInt8] { [value.red, value.green, value.blue] }
///
///   func decode(_ bytes: RawSpan) throws -> Pixel { … }
/// }
/// ```
///
/// The bytes are those of the record in the disk's memory map, or of a write that waits for its commit. Three rules
/// follow:
///
/// - The bytes end with the call. The compiler checks that no span of them is kept.
/// - The call runs inside a read transaction, under no lock of the cache. It must not use the cache, and should be
///   short: the space on disk cannot be reused during the transaction. A codec that parses for long implements
///   ``Codec`` only.
/// - The checksum of the whole record was verified before the call, which reads each byte of it once.
///
/// If the cache needs the bytes later, it copies them and calls ``Codec/decode(_:)`` outside the transaction. It does
/// so for values with a time to idle, expired values, and records of an older schema version. If the bytes cannot be
/// decoded, the record is removed as for any other codec.
public protocol InPlaceCodec<Value>: Codec {
  /// Returns the value that the bytes encode.
  ///
  /// - Parameter bytes: The encoded value, which is valid during the call only.
  /// - Returns: The value.
  /// - Throws: An error if the bytes encode no value.
  func decode(_ bytes: RawSpan) throws -> Value
}

extension InPlaceCodec {
  /// Returns the value that the bytes encode, as ``decode(_:)-(RawSpan)`` does.
  @inlinable
  public func decode(_ bytes: [UInt8]) throws -> Value { try decode(bytes.rawSpan) }
}
