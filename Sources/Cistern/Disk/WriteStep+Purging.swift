import LMDB

extension WriteStep {
  /// Whether the record under the key is concerned by an invalidation in force.
  func isInvalidated(
    _ key: borrowing DiskKey, _ digested: [UInt8]?, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Bool {
    guard let table = invalidated[key.generation], !table.isEmpty,
      let record = try transaction.value(forKey: key, in: file.records),
      let header = RecordHeader(trusting: record)
    else { return false }
    let fullKey = if let digested { digested } else { key.directKey }
    return table.concealsCommitted(header.metadata(of: record), key: fullKey.rawSpan)
  }

  /// Removes the records under these keys that the set conceals. They are not told of.
  mutating func purge(
    _ keys: [[UInt8]], concealedBy set: InvalidationSet, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    for bytes in keys {
      guard let key = DiskKey(bytes.rawSpan), let found = try concealed(key, by: set, in: transaction) else { continue }
      try drop(key, sequence: found.sequence, size: found.size, in: &transaction)
    }
  }

  private func concealed(
    _ key: borrowing DiskKey, by set: InvalidationSet, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> (sequence: UInt64, size: Int)? {
    guard let record = try transaction.value(forKey: key, in: file.records),
      let header = RecordHeader(record, under: key)
    else { return nil }
    let fullKey = key.isDigest ? record.extracting(header.key).copiedBytes() : key.directKey
    let metadata = header.metadata(of: record)
    guard set.conceals(era: metadata.era, key: fullKey.rawSpan, tags: metadata.tags) else { return nil }
    return (header.sequence, record.byteCount)
  }
}
