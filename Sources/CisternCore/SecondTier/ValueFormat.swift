/// The format in which a cache encodes its values.
@usableFromInline
package struct ValueFormat: Sendable, Hashable {
  /// The ``Codec/formatIdentifier`` of the cache's codec.
  package let codec: String
  /// The version of the cache's schema. Each version can have another codec.
  package let schemaVersion: UInt32

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - codec: The format identifier of the codec.
  ///   - schemaVersion: The version of the cache's schema.
  package init(codec: String, schemaVersion: UInt32) {
    self.codec = codec
    self.schemaVersion = schemaVersion
  }
}
