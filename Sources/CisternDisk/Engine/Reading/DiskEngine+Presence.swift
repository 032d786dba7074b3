import CisternCore
import LMDB

extension DiskEngine {
  /// Returns whether the key has a record, or nil if the file cannot be read at present.
  ///
  /// Reads only the header of the record, and does not verify its checksum.
  func presence(of key: RawSpan, in partition: Partition) -> Bool? {
    var version: UInt32 = 0
    return presence(of: key, in: partition, schemaVersion: &version)
  }

  /// Returns whether the key has a record, like `presence(of:in:)`, and sets `schemaVersion` to the record's
  /// version.
  func presence(of key: RawSpan, in partition: Partition, schemaVersion: inout UInt32) -> Bool? {
    if isInherited { return false }
    if let entry = partition.stagedEntry(forKey: key), !(entry.isRewrite && partition.shows(entry)) {
      if entry.condition != nil {
        let found = withRecord(forKey: key, in: partition) { metadata, _ in metadata.schemaVersion }
        schemaVersion = found ?? 0
        return found != nil
      }
      if case .record(_, let metadata, _) = entry.write { schemaVersion = metadata.schemaVersion }
      return partition.shows(entry)
    }
    for _ in 0..<DiskEngine.snapshotsTried {
      guard mode != .closed else { return false }
      // A read-only store may have no file.
      guard let file else { return options.isReadOnly ? false : nil }
      let environment = file.environment
      guard let transaction = beginRead(of: environment) else { return nil }
      let generation = generation(of: partition, in: transaction, of: file)
      guard generation != .zero else { return false }
      guard let record = unverifiedRecord(forKey: key, of: generation, in: transaction, of: file) else { return false }
      let snapshot = transaction.number
      schemaVersion = record.schemaVersion
      if partition.invalidations.isClear(for: snapshot) { return true }
      guard let metadata = record.metadata else { return false }
      switch partition.invalidations.visibility(of: metadata, key: key, snapshot: snapshot) {
      case .visible: return true
      case .concealed: return false
      case .outdated: continue
      }
    }
    return nil
  }

  /// Returns the key's record without a check of its checksum. A defect of the file counts as an absent record, and is
  /// recorded.
  @_lifetime(borrow transaction)
  private func unverifiedRecord(
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
