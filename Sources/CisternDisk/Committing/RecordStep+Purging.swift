import CisternCore
import LMDB

extension RecordStep {
  /// Returns the description of an evicted record, or nil if an invalidation in force covers the record.
  ///
  /// The caller must have checked the record under the key. An invalidated record is not reported as evicted.
  func evicted(
    _ key: borrowing DiskKey, _ digested: [UInt8]?, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> EvictedRecord? {
    guard let record = try transaction.value(forKey: key, in: tables.records),
      let header = RecordHeader(trusting: record)
    else { return nil }
    let fullKey = if let digested { digested } else { key.directKey }
    return evicted(key, fullKey, header, of: record)
  }

  /// Returns the description of a damaged record that is evicted, or nil if its key is unknown.
  ///
  /// The damage can be in the value alone. The tags of unreadable fields are unknown.
  func evictedDamaged(
    _ key: borrowing DiskKey, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> EvictedRecord? {
    guard let record = try transaction.value(forKey: key, in: tables.records) else { return nil }
    guard let header = RecordHeader(trusting: record) else {
      return key.isDigest
        ? nil
        : EvictedRecord(
          generation: key.generation, key: key.directKey, tags: [], schemaVersion: 0, position: position)
    }
    let fullKey = key.isDigest ? record.extracting(header.key).copiedBytes() : key.directKey
    guard DiskKey(generation: key.generation, key: fullKey.rawSpan).copiedBytes() == key.copiedBytes() else {
      return nil
    }
    return evicted(key, fullKey, header, of: record)
  }

  private func evicted(
    _ key: borrowing DiskKey, _ fullKey: [UInt8], _ header: RecordHeader, of record: RawSpan
  ) -> EvictedRecord? {
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
      // The record may be damaged, so its fields are not trusted further than for the comparison.
      guard let key = DiskKey(bytes.rawSpan), let size = try concealedSize(under: key, by: set, in: transaction) else {
        continue
      }
      try dropDamaged(key, size: size, in: &transaction)
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
