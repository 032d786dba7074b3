#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores `Data` as it is, with one copy in each direction.
public struct DataCodec: Codec {
  /// Creates the codec.
  @inlinable
  public init() {}

  /// "bytes", as ``BytesCodec`` has it.
  public var formatIdentifier: String { "bytes" }

  /// The data's bytes. O(n).
  @inlinable
  public func encode(_ value: Data) -> [UInt8] { [UInt8](value) }

  /// The bytes as data. O(n).
  @inlinable
  public func decode(_ bytes: [UInt8]) -> Data { Data(bytes) }

  /// The number of bytes. O(1).
  @inlinable
  public func encodedSize(of value: Data) -> Int? { value.count }
}

extension Codec where Self == DataCodec {
  /// Stores `Data` as it is.
  @inlinable
  public static var data: DataCodec { DataCodec() }
}
