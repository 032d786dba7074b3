#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores `Codable` values as JSON; the codec that a cache has if it is given none.
///
/// A few microseconds for a small value in each direction. A `Float` or `Double` that is not finite cannot be encoded,
/// unless the encoder is told how.
public struct JSONCodec<Value: Codable & Sendable>: Codec {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Creates the codec. Encoder and decoder are used from many threads at once: do not change their settings afterwards.
  public init(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) {
    self.encoder = encoder
    self.decoder = decoder
  }

  /// "json", for all types of values and all settings of the encoder.
  public var formatIdentifier: String { "json" }

  /// The value as JSON.
  ///
  /// - Throws: What the value's `encode(to:)` or the encoder throws.
  public func encode(_ value: Value) throws -> [UInt8] {
    [UInt8](try encoder.encode(value))
  }

  /// The value that the JSON describes.
  ///
  /// - Throws: What the value's `init(from:)` or the decoder throws.
  public func decode(_ bytes: [UInt8]) throws -> Value {
    try decoder.decode(Value.self, from: Data(bytes))
  }
}

extension Codec {
  /// Stores a `Codable` value as JSON.
  public static func json<Encoded>(_ type: Encoded.Type) -> JSONCodec<Encoded> where Self == JSONCodec<Encoded> {
    JSONCodec()
  }
}
