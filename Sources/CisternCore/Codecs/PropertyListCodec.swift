#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores `Codable` values as binary property lists.
///
/// Unlike JSON, a property list can contain raw `Data` and every floating-point number. A value must encode as an
/// array or a dictionary, as structures and collections do. A single number or string cannot be encoded.
public struct PropertyListCodec<Value: Codable & Sendable>: Codec {
  private let encoder: PropertyListEncoder
  private let decoder = PropertyListDecoder()

  /// Creates the codec.
  public init() {
    encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
  }

  /// The identifier "property-list", for all types of values.
  public var formatIdentifier: String { "property-list" }

  /// Returns the value as a binary property list.
  ///
  /// - Throws: The error that the value's `encode(to:)` or the encoder throws.
  public func encode(_ value: Value) throws -> [UInt8] {
    [UInt8](try encoder.encode(value))
  }

  /// Returns the value that the property list describes.
  ///
  /// - Throws: The error that the value's `init(from:)` or the decoder throws.
  public func decode(_ bytes: [UInt8]) throws -> Value {
    try decoder.decode(Value.self, from: Data(bytes))
  }
}

extension Codec {
  /// Returns a codec that stores a `Codable` value as a binary property list.
  public static func propertyList<Encoded>(_ type: Encoded.Type) -> PropertyListCodec<Encoded>
  where Self == PropertyListCodec<Encoded> { PropertyListCodec() }
}
