#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores `Data` unchanged, with one copy in each direction.
public struct DataCodec: InPlaceCodec {
  /// Creates the codec.
  @inlinable
  public init() {}

  /// The identifier "bytes", which ``BytesCodec`` shares.
  public var formatIdentifier: String { "bytes" }

  /// Returns the data's bytes. O(n).
  @inlinable
  public func encode(_ value: Data) -> [UInt8] { [UInt8](value) }

  /// Returns data with these bytes. O(n).
  @inlinable
  public func decode(_ bytes: [UInt8]) -> Data { Data(bytes) }

  /// Returns data with a copy of these bytes. O(n).
  @inlinable
  public func decode(_ bytes: RawSpan) -> Data {
    // The pointer is used during the call only.
    unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }

  /// Returns the number of bytes. O(1).
  @inlinable
  public func encodedSize(of value: Data) -> Int? { value.count }
}

extension Codec where Self == DataCodec {
  /// A codec that stores `Data` unchanged.
  @inlinable
  public static var data: DataCodec { DataCodec() }
}
