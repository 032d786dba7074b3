/// Some records of a partition that follow one another in the order of an enumeration.
@usableFromInline
package struct RecordChunk: Sendable {
  /// A record, without its value.
  @usableFromInline
  package struct Record: Sendable {
    @usableFromInline package let position: KeyPosition
    @usableFromInline package let key: [UInt8]
    @usableFromInline package let metadata: RecordMetadata

    package init(position: KeyPosition, key: [UInt8], metadata: RecordMetadata) {
      self.position = position
      self.key = key
      self.metadata = metadata
    }
  }

  @usableFromInline package var records: [Record] = []
  /// The position up to which the tier looked; nil if no record follows.
  @usableFromInline package var end: KeyPosition?

  @usableFromInline
  package init() {}
}

/// The part of a partition that an enumeration asks for next.
@usableFromInline
package struct RecordRange: Sendable {
  /// The records follow this position. Nil for the first ones.
  package let start: KeyPosition?
  /// The bytes with which each key begins.
  package let prefix: [UInt8]
  /// The largest number of records that the tier looks at.
  package let limit: Int

  @usableFromInline
  package init(after start: KeyPosition?, prefix: [UInt8] = [], limit: Int) {
    self.start = start
    self.prefix = prefix
    self.limit = limit
  }
}

extension TransactionalPartition {
  /// The bytes of the key. A tier in another order implements the method.
  package func position(of key: RawSpan) -> KeyPosition { KeyPosition(bytes: key.copiedBytes()) }

  /// The metadata of the record that a read finds.
  package func metadata(of key: RawSpan) -> RecordMetadata? { withRecord(forKey: key) { metadata, _ in metadata } }

  /// All records after the range's start; the limit has no effect. The tier lists its records in no order, so that a part
  /// of them costs as much as all.
  ///
  /// - Complexity: O(*n* log *n*) for *n* records of the partition.
  package func records(in range: RecordRange) throws(CisternError) -> RecordChunk {
    var chunk = RecordChunk()
    forEachRecord { key, metadata, _ in
      guard key.starts(with: range.prefix) else { return true }
      let bytes = key.copiedBytes()
      let position = KeyPosition(bytes: bytes)
      if range.start.map({ $0 < position }) ?? true {
        chunk.records.append(RecordChunk.Record(position: position, key: bytes, metadata: metadata))
      }
      return true
    }
    chunk.records.sort { $0.position < $1.position }
    // The tier can list a key twice, for example as staged and as committed.
    var last: KeyPosition?
    chunk.records.removeAll { record in
      defer { last = record.position }
      return record.position == last
    }
    return chunk
  }
}
