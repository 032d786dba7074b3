import CisternCore

extension KeyPosition {
  /// Creates the position of a digest in the order of records in extents.
  init(_ digest: RecordDigest) { self.init(isDigest: true, bytes: digest.bytes) }

  /// The digest at the position. Nil for a position that belongs to the order of another layout.
  var recordDigest: RecordDigest? { isDigest ? RecordDigest(bytes.rawSpan) : nil }
}
