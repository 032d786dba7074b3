/// The place after an entry in the order of an enumeration.
///
/// A cursor stays valid when entries are written or removed, and when the store is opened again. It holds the bytes of
/// a key, or of a key's digest.
public struct EntryCursor: Sendable, Hashable, Codable {
  /// The encoded cursor, for a client that asks for the next page.
  public let bytes: [UInt8]

  /// Creates a cursor from its encoded form. Returns nil if the bytes encode none.
  ///
  /// - Parameter bytes: The ``bytes`` of a cursor.
  public init?(bytes: [UInt8]) {
    guard let kind = bytes.first, kind <= 1 else { return nil }
    self.bytes = bytes
  }

  init(_ position: KeyPosition) {
    bytes = [position.isDigest ? 1 : 0] + position.bytes
  }

  /// Decodes the bytes of a cursor.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let cursor = EntryCursor(bytes: try container.decode([UInt8].self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "the bytes encode no cursor")
    }
    self = cursor
  }

  /// Encodes the bytes of the cursor.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytes)
  }

  var position: KeyPosition { KeyPosition(isDigest: bytes.first == 1, bytes: Array(bytes.dropFirst())) }
}
