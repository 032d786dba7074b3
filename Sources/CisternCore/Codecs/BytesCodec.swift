/// Stores byte arrays unchanged and without a copy.
public struct BytesCodec: Codec {
  /// Creates the codec.
  @inlinable
  public init() {}

  /// The identifier "bytes", which ``DataCodec`` shares.
  public var formatIdentifier: String { "bytes" }

  /// Returns the bytes without a copy. O(1).
  @inlinable
  public func encode(_ value: [UInt8]) -> [UInt8] { value }

  /// Returns the bytes without a copy. O(1).
  @inlinable
  public func decode(_ bytes: [UInt8]) -> [UInt8] { bytes }

  /// Returns the number of bytes. O(1).
  @inlinable
  public func encodedSize(of value: [UInt8]) -> Int? { value.count }
}

extension Codec where Self == BytesCodec {
  /// A codec that stores byte arrays unchanged.
  @inlinable
  public static var bytes: BytesCodec { BytesCodec() }
}
