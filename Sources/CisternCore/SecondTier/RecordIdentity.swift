/// The identity of a record that was read: its metadata and a hash of its value.
///
/// A rewrite names the record that it replaces (``TransactionalPartition/stage(_:if:)``). Another process may have
/// replaced that record since. A record's place in the order of eviction and its invalidation version are not compared.
@usableFromInline
package struct RecordIdentity: Sendable, Equatable {
  private let metadata: RecordMetadata
  private let size: Int
  private let hash: Int

  /// Creates the identity of a record with this metadata and these bytes as its value. O(n) for n bytes.
  @usableFromInline
  package init(_ metadata: RecordMetadata, bytes: RawSpan) {
    var metadata = metadata
    // The file numbers invalidations in its own order, and each process in another.
    metadata.invalidationVersion = 0
    metadata.isSet = false
    self.metadata = metadata
    size = bytes.byteCount
    var hasher = Hasher()
    // The hasher reads the bytes inside the call.
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    hash = hasher.finalize()
  }

  /// Returns whether the records are the same but for the time of their last use.
  func isSame(butForUse other: RecordIdentity) -> Bool {
    var metadata = metadata
    metadata.lastUsed = other.metadata.lastUsed
    return metadata == other.metadata && size == other.size && hash == other.hash
  }

  /// Whether the write stores this record.
  func isIdentity(of write: StagedWrite) -> Bool {
    guard case .record(_, let metadata, let bytes) = write, bytes.count == size else { return false }
    return self == RecordIdentity(metadata, bytes: bytes.rawSpan)
  }
}

extension StoredRecord {
  /// The record's identity.
  @usableFromInline
  var identity: RecordIdentity { RecordIdentity(metadata, bytes: bytes.rawSpan) }
}
