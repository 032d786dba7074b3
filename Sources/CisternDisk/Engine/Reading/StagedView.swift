import CisternCore
import LMDB

/// The part of a staged write in what readers of its key see.
enum StagedView {
  /// Readers see the record that the write stores.
  case record(RecordMetadata, bytes: [UInt8])
  /// Readers see no record.
  case absent
  /// Readers see the record on disk, unless the condition holds for it. They see none if it holds.
  case committed(unless: RecordCondition)
}

extension DiskEngine {
  /// Returns the view of a staged write.
  ///
  /// A record that replaces the one on disk can have other tags. An invalidation of the tags that only the record on
  /// disk has was staged after the write, and does not conceal it.
  func view(of entry: StagedEntry, forKey key: RawSpan, in partition: Partition) -> StagedView {
    if let condition = entry.condition {
      // Before the comparison with the invalidations: the snapshot can have those of another process.
      guard entry.isRewrite, hasRecord(forKey: key, in: partition, for: condition) else {
        return .committed(unless: condition)
      }
    }
    // Before the comparison, too: no invalidation up to this version conceals the record.
    let version = partition.invalidations.invalidationVersion
    guard case .record(_, var metadata, let bytes) = entry.write else { return .absent }
    guard partition.shows(entry) else {
      return partition.condition(of: entry).map { .committed(unless: $0) } ?? .absent
    }
    if entry.isRewrite { metadata.localVersion = version }
    return .record(metadata, bytes: bytes)
  }

  /// Whether the condition of a staged write holds for the key's record on disk. Invalidations do not count: the write
  /// decides by its own tags.
  private func hasRecord(forKey key: RawSpan, in partition: Partition, for condition: RecordCondition) -> Bool {
    for _ in 0..<DiskEngine.snapshotsTried {
      guard mode != .closed, let file else { return false }
      let environment = file.environment
      guard let transaction = beginRead(of: environment) else { return false }
      let generation = generation(of: partition, in: transaction, of: file)
      guard generation != .zero,
        let record = unverifiedRecord(forKey: key, of: generation, in: transaction, of: file),
        let metadata = record.metadata, condition.holds(for: metadata, record.value)
      else { return false }
      // A purge after an outdated snapshot may have removed the record.
      if !partition.invalidations.isOutdated(transaction.transactionNumber) { return true }
    }
    return false
  }
}
