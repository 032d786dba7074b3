/// The format in which the values of a cache are encoded.
public struct ValueFormat: Sendable, Hashable {
  /// The ``Codec/formatIdentifier`` of the cache's codec.
  public let codec: String
  /// The version of the cache's schema: each version may have another codec.
  public let schemaVersion: UInt32

  /// Creates a format.
  public init(codec: String, schemaVersion: UInt32) {
    self.codec = codec
    self.schemaVersion = schemaVersion
  }
}
