/// Some records of a partition that follow one another in the order of an enumeration.
///
/// The names and keys of all records are in one array, so that a record allocates nothing.
@usableFromInline
package struct RecordChunk: Sendable {
  /// A record, without its value. The ranges are those of ``RecordChunk/bytes``.
  @usableFromInline
  package struct Record: Sendable {
    /// Whether the tier has the record under a digest of its key.
    @usableFromInline package let isDigest: Bool
    /// The key in the tier's order: the key itself or its digest.
    @usableFromInline package let name: Range<Int>
    @usableFromInline package let key: Range<Int>
    @usableFromInline package let metadata: RecordMetadata
  }

  @usableFromInline package private(set) var records: [Record] = []
  /// The position up to which the tier looked; nil if no record follows.
  @usableFromInline package var end: KeyPosition?
  @usableFromInline package private(set) var bytes: [UInt8] = []

  @usableFromInline
  package init() {}

  package mutating func reserveCapacity(_ count: Int) {
    records.reserveCapacity(count)
    bytes.reserveCapacity(count * 16)
  }

  /// Adds a record whose name is its key.
  package mutating func append(key: RawSpan, _ metadata: RecordMetadata) {
    let key = add(key)
    records.append(Record(isDigest: false, name: key, key: key, metadata: metadata))
  }

  /// Adds a record under a digest of its key.
  package mutating func append(digest: RawSpan, key: RawSpan, _ metadata: RecordMetadata) {
    let name = add(digest)
    records.append(Record(isDigest: true, name: name, key: add(key), metadata: metadata))
  }

  private mutating func add(_ span: RawSpan) -> Range<Int> {
    let start = bytes.count
    // The pointer is used during the call only.
    unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    return start..<bytes.count
  }

  /// Calls `body` with the bytes of a record's key.
  @inlinable
  package func withKey<Result>(of record: Record, _ body: (RawSpan) throws -> Result) rethrows -> Result {
    try body(bytes.rawSpan.extracting(record.key))
  }

  /// Returns the place of a record in the order of the enumeration.
  @usableFromInline
  package func position(of record: Record) -> KeyPosition {
    KeyPosition(isDigest: record.isDigest, bytes: Array(bytes[record.name]))
  }

  /// Replaces the metadata of the records, and drops those for which `body` returns nil.
  package mutating func compactMap(_ body: (RawSpan, RecordMetadata) -> RecordMetadata?) {
    records = records.compactMap { record in
      withKey(of: record) { body($0, record.metadata) }.map {
        Record(isDigest: record.isDigest, name: record.name, key: record.key, metadata: $0)
      }
    }
  }

  /// Sorts the records by the bytes of their names.
  package mutating func sort() {
    let bytes = bytes
    records.sort { bytes.rawSpan.extracting($0.name).precedes(bytes.rawSpan.extracting($1.name)) }
  }

  /// Keeps one of the records with the same name. The records must be sorted.
  package mutating func dropRepeatedNames() {
    let bytes = bytes
    var last: Range<Int>?
    records.removeAll { record in
      defer { last = record.name }
      guard let last else { return false }
      return bytes.rawSpan.extracting(record.name).hasSameBytes(as: bytes.rawSpan.extracting(last))
    }
  }
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
      if range.start?.precedes(key) ?? true { chunk.append(key: key, metadata) }
      return true
    }
    chunk.sort()
    // The tier can list a key twice, for example as staged and as committed.
    chunk.dropRepeatedNames()
    return chunk
  }
}
