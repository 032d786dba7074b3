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
  fileprivate func isIdentity(of write: StagedWrite) -> Bool {
    guard case .record(_, let metadata, let bytes) = write, bytes.count == size else { return false }
    return self == RecordIdentity(metadata, bytes: bytes.rawSpan)
  }
}

/// The record that a staged write may replace or remove. If the key has another record, the tier drops the write.
///
/// The tier compares when the write is staged, when it is read, and when it is committed.
@usableFromInline
package indirect enum RecordCondition: Sendable {
  // Indirect, because few staged writes have a condition, and every staged write has room for one.

  /// The record that was read.
  case identity(RecordIdentity)
  /// A record whose lifetime and grace ended before this time.
  ///
  /// The end of a copy in memory says nothing about the records of other processes. They may have written or used the
  /// record since.
  case ended(by: WallTime)
  /// A record that no reader can use, because it is damaged. The write is a removal.
  ///
  /// Readers do not check the record again: they take it for absent.
  case damaged
  /// A record that was committed before the invalidation with this number in the file.
  case written(before: UInt64)
  /// A record for which one of these conditions holds.
  case either(RecordCondition, RecordCondition)

  /// Whether the write may replace or remove this sound record.
  package func allows(for metadata: RecordMetadata, _ bytes: RawSpan) -> Bool {
    switch self {
    case .damaged: false
    case .identity, .ended, .written: holds(for: metadata, bytes)
    case .either(let first, let second): first.allows(for: metadata, bytes) || second.allows(for: metadata, bytes)
    }
  }

  /// Whether readers take this record for replaced or removed.
  package func holds(for metadata: RecordMetadata, _ bytes: RawSpan) -> Bool {
    switch self {
    case .damaged: true
    case .identity(let identity): RecordIdentity(metadata, bytes: bytes) == identity
    case .ended(let time): metadata.hasEnded(by: time)
    case .written(let number): metadata.invalidationVersion < number
    case .either(let first, let second): first.holds(for: metadata, bytes) || second.holds(for: metadata, bytes)
    }
  }

  /// Whether the write may replace or remove the record that another write stores. False if that is a removal.
  package func holds(for write: StagedWrite) -> Bool {
    switch (self, write) {
    case (.identity(let identity), _): identity.isIdentity(of: write)
    case (.ended(let time), .record(_, let metadata, _)): metadata.hasEnded(by: time)
    case (.either(let first, let second), _): first.holds(for: write) || second.holds(for: write)
    // The write is not in the file yet.
    case (.written, _): false
    case (.ended, .removal), (.damaged, _): false
    }
  }
}

extension StoredRecord {
  /// The record's identity.
  @usableFromInline
  var identity: RecordIdentity { RecordIdentity(metadata, bytes: bytes.rawSpan) }
}
