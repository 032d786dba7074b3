import CisternCore
import LMDB

extension RecordStep {
  /// Returns the description of an evicted record, or nil if an invalidation in force covers the record.
  ///
  /// The caller must have checked the record under the key. An invalidated record is not reported as evicted.
  func evicted(
    _ key: borrowing DiskKey, _ digested: [UInt8]?, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> EvictedRecord? {
    let fullKey = if let digested { digested } else { key.directKey }
    guard let record = try transaction.value(forKey: key, in: tables.records),
      let header = RecordHeader(trusting: record)
    else { return nil }
    let metadata = header.metadata(of: record)
    if let table = invalidated[key.generation], !table.isEmpty,
      table.concealsCommitted(metadata, key: fullKey.rawSpan)
    {
      return nil
    }
    return EvictedRecord(
      generation: key.generation, key: fullKey, tags: metadata.tags, schemaVersion: metadata.schemaVersion,
      position: position)
  }

  /// Removes the records under these file keys that the set conceals. Their removal is not reported as a loss.
  mutating func purge(
    _ keys: [[UInt8]], concealedBy set: InvalidationSet<FileInvalidationVersion>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for bytes in keys {
      guard let key = DiskKey(bytes.rawSpan), let found = try concealed(key, by: set, in: transaction) else { continue }
      try drop(key, sequence: found.sequence, size: found.size, in: &transaction)
    }
  }

  private func concealed(
    _ key: borrowing DiskKey, by set: InvalidationSet<FileInvalidationVersion>,
    in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> (sequence: SequenceNumber, size: Int)? {
    guard let record = try transaction.value(forKey: key, in: tables.records),
      let header = RecordHeader(record, under: key)
    else { return nil }
    let fullKey = key.isDigest ? record.extracting(header.key).copiedBytes() : key.directKey
    let metadata = header.metadata(of: record)
    guard set.conceals(invalidationVersion: metadata.fileVersion, key: fullKey.rawSpan, tags: metadata.tags)
    else { return nil }
    return (header.sequence, record.byteCount)
  }
}
