import CisternCore
import LMDB

// Looks at records that are no uses of them. They count neither hits nor misses, and verify no checksum.

extension DiskEngine {
  /// Returns whether the key has a record, or nil if the file cannot be read now.
  ///
  /// Reads only the header of the record.
  func presence(of key: RawSpan, in partition: Partition) -> Bool? {
    var version: UInt32 = 0
    return presence(of: key, in: partition, schemaVersion: &version)
  }

  /// Returns whether the key has a record, like `presence(of:in:)`, and sets `schemaVersion` to the record's
  /// version.
  func presence(of key: RawSpan, in partition: Partition, schemaVersion: inout UInt32) -> Bool? {
    switch inspect(key, in: partition, staged: { $0.schemaVersion }, committed: { $0.schemaVersion }) {
    case .found(let version):
      schemaVersion = version
      return true
    case .absent: return false
    case .unreadable: return nil
    }
  }

  /// Returns the metadata of the key's record, or nil if a read finds none.
  func metadata(of key: RawSpan, in partition: Partition) -> RecordMetadata? {
    // Before the look: no invalidation up to this version conceals the record.
    let version = partition.invalidations.invalidationVersion
    let inspection = inspect(key, in: partition) { metadata -> RecordMetadata? in
      metadata
    } committed: { record in
      var metadata = record.metadata
      metadata?.localVersion = version
      return metadata
    }
    guard case .found(let metadata) = inspection else { return nil }
    return metadata
  }

  /// Returns whether readers see a record of the key on disk for which the condition does not hold.
  func hasRecord(forKey key: RawSpan, in partition: Partition, unless condition: RecordCondition) -> Bool {
    if case .found = inspect(key, in: partition, unless: condition, { _ in }) { true } else { false }
  }

  /// The result of a look at a record.
  private enum Inspection<Result> {
    case found(Result)
    case absent
    /// The file cannot be read now.
    case unreadable
  }

  /// Calls one of the closures with the key's newest record, staged or on disk, unless readers do not see it.
  private func inspect<Result>(
    _ key: RawSpan, in partition: Partition, staged: (RecordMetadata) -> Result,
    committed: (borrowing UnverifiedRecord) -> Result
  ) -> Inspection<Result> {
    if isInherited { return .absent }
    guard let entry = partition.stagedEntry(forKey: key) else {
      return inspect(key, in: partition, unless: nil, committed)
    }
    switch view(of: entry, forKey: key, in: partition) {
    case .record(let metadata, _): return .found(staged(metadata))
    case .absent: return .absent
    case .committed(let condition): return inspect(key, in: partition, unless: condition, committed)
    }
  }

  /// Calls `body` with the key's record on disk, unless an invalidation conceals it, or the condition holds for it.
  private func inspect<Result>(
    _ key: RawSpan, in partition: Partition, unless condition: RecordCondition?,
    _ body: (borrowing UnverifiedRecord) -> Result
  ) -> Inspection<Result> {
    for _ in 0..<DiskEngine.snapshotsTried {
      guard mode != .closed else { return .absent }
      // A read-only store may have no file.
      guard let file else { return options.isReadOnly ? .absent : .unreadable }
      let environment = file.environment
      guard let transaction = beginRead(of: environment) else { return .unreadable }
      let generation = generation(of: partition, in: transaction, of: file)
      if generation == .zero { return partition.isLearned ? .absent : .unreadable }
      guard let record = unverifiedRecord(forKey: key, of: generation, in: transaction, of: file) else {
        return .absent
      }
      let snapshot = transaction.transactionNumber
      if condition == nil, partition.invalidations.isVisibleWithoutComparison(at: snapshot) {
        return .found(body(record))
      }
      guard let metadata = record.metadata else { return .absent }
      if let condition, condition.holds(for: metadata, record.value) { return .absent }
      switch partition.visibility(of: metadata, key: key, snapshot: snapshot) {
      case .visible: return .found(body(record))
      case .concealed: return .absent
      case .outdated: continue
      }
    }
    return .unreadable
  }

  /// Returns the key's record without a check of its checksum. A defect of the file counts as an absent record, and is
  /// recorded.
  @_lifetime(borrow transaction)
  func unverifiedRecord(
    forKey key: RawSpan, of generation: Generation, in transaction: borrowing ReadTransaction, of file: DiskFile
  ) -> UnverifiedRecord? {
    do {
      return try file.unverifiedRecord(forKey: key, of: generation, in: transaction)
    } catch {
      noteReadFailure(error, of: file.environment)
      return nil
    }
  }
}
