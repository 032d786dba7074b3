import CisternCore
import LMDB

extension RecordStep {
  /// Returns the description of an evicted record. Nil if an invalidation in force covers the record, or if damage
  /// makes its key unknown.
  ///
  /// An invalidated record is not reported as evicted. The tags of unreadable fields are unknown.
  func evicted(
    _ key: borrowing DiskKey, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> EvictedRecord? {
    guard let record = try transaction.value(forKey: key, in: tables.records) else { return nil }
    let header = RecordHeader(trusting: record)
    var fullKey = key.isDigest ? [] : key.directKey
    if key.isDigest {
      guard let header else { return nil }
      fullKey = record.extracting(header.key).copiedBytes()
      guard DiskKey(generation: key.generation, key: fullKey.rawSpan).copiedBytes() == key.copiedBytes() else {
        return nil
      }
    }
    let metadata = header?.metadata(of: record)
    if let metadata, isConcealed(metadata, fullKey, of: key.generation) { return nil }
    return EvictedRecord(
      generation: key.generation, key: fullKey, tags: metadata?.tags ?? [], schemaVersion: metadata?.schemaVersion ?? 0,
      position: position)
  }

  /// Returns whether an invalidation in force covers the record of a key.
  func isConcealed(_ metadata: RecordMetadata, _ fullKey: [UInt8], of generation: Generation) -> Bool {
    guard let table = invalidated[generation], !table.isEmpty else { return false }
    return table.concealsInTransaction(metadata, key: fullKey.rawSpan)
  }

  /// Removes the records under these file keys that the set conceals. Their removal is not reported as a loss.
  mutating func purge(
    _ keys: [[UInt8]], concealedBy set: InvalidationSet<FileInvalidationVersion>, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for bytes in keys {
      guard let key = DiskKey(bytes.rawSpan), let size = try concealedSize(under: key, by: set, in: transaction) else {
        continue
      }
      try dropUnverified(key, size: size, in: &transaction)
    }
  }

  /// Returns the size of the record under the key, or nil if the set does not conceal it.
  ///
  /// Damage does not keep a record: after the end of the invalidations, an enumeration would find it.
  private func concealedSize(
    under key: borrowing DiskKey, by set: InvalidationSet<FileInvalidationVersion>,
    in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Int? {
    guard let record = try transaction.value(forKey: key, in: tables.records),
      let header = RecordHeader(trusting: record)
    else { return nil }
    let fullKey = key.isDigest ? record.extracting(header.key).copiedBytes() : key.directKey
    let metadata = header.metadata(of: record)
    guard set.conceals(invalidationVersion: metadata.fileVersion, key: fullKey.rawSpan, tags: metadata.tags)
    else { return nil }
    return record.byteCount
  }
}
