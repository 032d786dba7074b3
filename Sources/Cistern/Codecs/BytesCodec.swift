/// Stores byte arrays as they are, without a copy.
public struct BytesCodec: Codec {
  /// Creates the codec.
  @inlinable
  public init() {}

  /// "bytes", as ``DataCodec`` has it.
  public var formatIdentifier: String { "bytes" }

  /// The bytes, uncopied. O(1).
  @inlinable
  public func encode(_ value: [UInt8]) -> [UInt8] { value }

  /// The bytes, uncopied. O(1).
  @inlinable
  public func decode(_ bytes: [UInt8]) -> [UInt8] { bytes }

  /// The number of bytes. O(1).
  @inlinable
  public func encodedSize(of value: [UInt8]) -> Int? { value.count }
}

extension Codec where Self == BytesCodec {
  /// Stores byte arrays as they are.
  @inlinable
  public static var bytes: BytesCodec { BytesCodec() }
}
