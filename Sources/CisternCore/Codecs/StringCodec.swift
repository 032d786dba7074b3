/// Stores strings as UTF-8. The Unicode scalars are preserved exactly.
public struct StringCodec: InPlaceCodec {
  /// Creates the codec.
  @inlinable
  public init() {}

  /// The identifier "utf-8".
  public var formatIdentifier: String { "utf-8" }

  /// Returns the string's UTF-8. O(n).
  @inlinable
  public func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

  /// Returns the string with this UTF-8. O(n).
  ///
  /// - Throws: ``CodecError/invalidUTF8`` if the bytes are not valid UTF-8. Invalid bytes are not repaired.
  @inlinable
  public func decode(_ bytes: [UInt8]) throws(CodecError) -> String {
    guard let string = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8 }
    return string
  }

  /// Returns the string with this UTF-8, as ``decode(_:)-([UInt8])`` does, without an array of the bytes. O(n).
  @inlinable
  public func decode(_ bytes: RawSpan) throws(CodecError) -> String {
    // The pointer is used during the call only.
    let string = unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let string else { throw .invalidUTF8 }
    return string
  }

  /// Returns the number of bytes in UTF-8. O(1) for native strings.
  @inlinable
  public func encodedSize(of value: String) -> Int? { value.utf8.count }
}

extension Codec where Self == StringCodec {
  /// A codec that stores strings as UTF-8.
  @inlinable
  public static var string: StringCodec { StringCodec() }
}
