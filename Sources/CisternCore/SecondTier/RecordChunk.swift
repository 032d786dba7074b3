/// Some records of a partition that follow one another in the order of an enumeration.
///
/// The names and keys of all records are in one allocation, and records have no references. A record therefore
/// allocates nothing, unless it has no summary.
@safe
@usableFromInline
package struct RecordChunk: ~Copyable {
  /// A record, without its value.
  @usableFromInline
  package struct Record {
    /// The metadata. For a record without a summary, only a part of it.
    @usableFromInline let summary: RecordSummary
    /// The index of the metadata in the chunk, for a record without a summary. Otherwise -1.
    @usableFromInline let details: Int
    /// The place of the name in the bytes of the chunk. The name is the key in the tier's order: the key itself or its
    /// digest.
    @usableFromInline let start: Int
    @usableFromInline let nameSize: Int

    @inlinable
    init(_ summary: RecordSummary, details: Int = -1, start: Int, nameSize: Int) {
      self.summary = summary
      self.details = details
      self.start = start
      self.nameSize = nameSize
    }

    @inlinable
    var name: Range<Int> { start..<start + nameSize }
  }

  /// The rest of a record without a summary.
  private struct Details {
    let metadata: RecordMetadata
    /// The size of the key that follows its digest. Nil if the name is the key.
    let keySize: Int?
  }

  @usableFromInline var storage = FlatStorage<Record>()
  /// The names and keys.
  @usableFromInline var bytes = FlatStorage<UInt8>()
  /// The position up to which the tier looked; nil if no record follows.
  @usableFromInline package var end: KeyPosition?
  private var details: [Details] = []

  @usableFromInline
  package init() {}

  package mutating func reserveCapacity(_ count: Int) {
    storage.makeRoom(for: count)
    bytes.makeRoom(for: count * 24)
  }

  /// The number of records.
  @inlinable
  package var count: Int { storage.count }

  /// Returns a record. Traps if the chunk has none with this index.
  @inlinable
  package subscript(index: Int) -> Record { storage[index] }

  /// A copy of the list of records.
  @usableFromInline
  package var records: [Record] { (0..<count).map { self[$0] } }

  // MARK: Adding

  /// Adds a record whose name is its key.
  @inlinable
  @inline(__always)
  package mutating func append(key: RawSpan, _ summary: RecordSummary) {
    let start = bytes.count
    bytes.append(key)
    storage.append(Record(summary, start: start, nameSize: key.byteCount))
  }

  /// Adds a record whose name is its key.
  package mutating func append(key: RawSpan, _ metadata: RecordMetadata) {
    let start = bytes.count
    bytes.append(key)
    append(metadata, start: start, nameSize: key.byteCount, keySize: nil)
  }

  /// Adds a record under a digest of its key.
  package mutating func append(digest: RawSpan, key: RawSpan, _ metadata: RecordMetadata) {
    let start = bytes.count
    bytes.append(digest)
    bytes.append(key)
    append(metadata, start: start, nameSize: digest.byteCount, keySize: key.byteCount)
  }

  private mutating func append(_ metadata: RecordMetadata, start: Int, nameSize: Int, keySize: Int?) {
    storage.append(
      Record(RecordSummary(of: metadata), details: details.count, start: start, nameSize: nameSize))
    details.append(Details(metadata: metadata, keySize: keySize))
  }

  // MARK: Reading

  /// Calls `body` with the bytes of a record's key.
  @inlinable
  @inline(__always)
  package func withKey<Result>(of record: Record, _ body: (RawSpan) throws -> Result) rethrows -> Result {
    try body(bytes.rawSpan.extracting(record.details < 0 ? record.name : keyPlace(of: record)))
  }

  @usableFromInline
  func keyPlace(of record: Record) -> Range<Int> {
    guard let size = keySize(of: record) else { return record.name }
    return record.name.upperBound..<record.name.upperBound + size
  }

  /// Returns the summary of a record, or nil if it has more details.
  @inlinable
  @inline(__always)
  func summary(of record: Record) -> RecordSummary? { record.details < 0 ? record.summary : nil }

  /// Returns the metadata of a record. The invalidation version of a record with a summary is zero.
  @usableFromInline
  package func metadata(of record: Record) -> RecordMetadata {
    record.details < 0 ? record.summary.metadata : details[record.details].metadata
  }

  /// Returns the place of a record in the order of the enumeration.
  @usableFromInline
  package func position(of record: Record) -> KeyPosition {
    KeyPosition(isDigest: keySize(of: record) != nil, bytes: bytes.rawSpan.extracting(record.name).copiedBytes())
  }

  private func keySize(of record: Record) -> Int? { record.details < 0 ? nil : details[record.details].keySize }

  // MARK: Changing

  /// Replaces the metadata of the records, and drops those for which `body` returns nil.
  package mutating func compactMap(_ body: (RawSpan, RecordMetadata) -> RecordMetadata?) {
    var changed: [(record: Record, details: Details)] = []
    for record in records {
      let metadata = withKey(of: record) { body($0, self.metadata(of: record)) }
      if let metadata { changed.append((record, Details(metadata: metadata, keySize: keySize(of: record)))) }
    }
    storage.removeAll()
    details = []
    for (record, details) in changed {
      append(details.metadata, start: record.start, nameSize: record.nameSize, keySize: details.keySize)
    }
  }

  /// Sorts the records by the bytes of their names, and keeps one of those with the same name.
  package mutating func sortAndDropRepeatedNames() {
    let sorted = records.sorted {
      bytes.rawSpan.extracting($0.name).precedes(bytes.rawSpan.extracting($1.name))
    }
    storage.removeAll()
    var last: Record?
    for record in sorted {
      if let last, bytes.rawSpan.extracting(record.name).hasSameBytes(as: bytes.rawSpan.extracting(last.name)) {
        continue
      }
      storage.append(record)
      last = record
    }
  }
}

extension RecordSummary {
  /// The part of a record's metadata that a summary has.
  fileprivate init(of metadata: RecordMetadata) {
    self.init(
      created: metadata.created, expires: metadata.expires, cost: metadata.cost, schemaVersion: metadata.schemaVersion)
  }
}
