#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores `Codable` values as JSON. This is the codec of a cache without an explicit codec, unless the type has a
/// built-in one.
///
/// A `Float` or `Double` that is not finite can be encoded only if the encoder has a strategy for it.
public struct JSONCodec<Value: Codable & Sendable>: Codec {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Creates the codec.
  ///
  /// Many threads use the encoder and the decoder concurrently, so do not change their settings afterwards.
  ///
  /// - Parameters:
  ///   - encoder: The encoder of the values.
  ///   - decoder: The decoder of the values.
  public init(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) {
    self.encoder = encoder
    self.decoder = decoder
  }

  /// The identifier "json", for all types of values and all settings of the encoder.
  public var formatIdentifier: String { "json" }

  /// Returns the value as JSON.
  ///
  /// - Throws: The error that the value's `encode(to:)` or the encoder throws.
  public func encode(_ value: Value) throws -> [UInt8] {
    [UInt8](try encoder.encode(value))
  }

  /// Returns the value that the JSON describes.
  ///
  /// - Throws: The error that the value's `init(from:)` or the decoder throws.
  public func decode(_ bytes: [UInt8]) throws -> Value {
    try decoder.decode(Value.self, from: Data(bytes))
  }
}

extension Codec {
  /// Returns a codec that stores a `Codable` value as JSON.
  public static func json<Encoded>(_ type: Encoded.Type) -> JSONCodec<Encoded> where Self == JSONCodec<Encoded> {
    JSONCodec()
  }
}
