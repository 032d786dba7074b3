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
