extension TransactionalPartition {
  /// The bytes of the key. A tier in another order implements the method.
  package func position(of key: RawSpan) -> KeyPosition { KeyPosition(bytes: key.copiedBytes()) }

  /// The metadata of the record that a read finds.
  package func metadata(of key: RawSpan) -> RecordMetadata? { withRecord(forKey: key) { metadata, _ in metadata } }

  /// All records after the range's start; the limit has no effect. The tier lists its records in no order, so that a
  /// part of them costs as much as all.
  ///
  /// - Complexity: O(*n* log *n*) for *n* records of the partition.
  package func records(in range: RecordRange) throws(CisternError) -> RecordChunk {
    var chunk = RecordChunk()
    forEachRecord { key, metadata, _ in
      guard key.starts(with: range.prefix) else { return true }
      if range.start?.precedes(key) ?? true { chunk.append(key: key, metadata) }
      return true
    }
    // The tier can list a key twice, for example as staged and as committed.
    chunk.sortAndDropRepeatedNames()
    return chunk
  }
}
