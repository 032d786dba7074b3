import CisternCore

/// The fields of a record, and the ranges of its variable parts. Reading them copies nothing, and accepts arbitrary
/// bytes.
package struct RecordHeader {
  package let sequence: SequenceNumber
  let created: WallTime
  let cost: UInt32
  let fields: RecordFields
  private let tagsStart: Int
  private let keyStart: Int
  private let valueStart: Int
  private let end: Int

  /// The ranges of the tags, of the key, and of the value in the record. The key's range is empty if the file key
  /// is the whole key.
  package var tags: Range<Int> { tagsStart..<keyStart }
  package var key: Range<Int> { keyStart..<valueStart }
  package var value: Range<Int> { valueStart..<end }

  /// Reads the fields of `record`, which can be arbitrary bytes. Returns nil if the checksum under `diskKey` or a
  /// length is wrong.
  @inline(__always)
  package init?(_ record: RawSpan, under diskKey: RawSpan) {
    self.init(record, seed: RecordFormat.seed(of: diskKey))
  }

  /// Reads the fields of `record`, which can be arbitrary bytes. Returns nil if the checksum under `diskKey` or a
  /// length is wrong.
  @inline(__always)
  package init?(_ record: RawSpan, under diskKey: borrowing DiskKey) {
    self.init(record, seed: diskKey.withBytes { RecordFormat.seed(of: $0) })
  }

  @inline(__always)
  private init?(_ record: RawSpan, seed: UInt64) {
    guard record.byteCount >= RecordFormat.fixedSize,
      record.integer(at: 0, as: UInt64.self) == RecordFormat.checksum(of: record, seed: seed)
    else { return nil }
    self.init(trusting: record)
  }

  /// Reads the fields without checking the checksum. Returns nil if a length is wrong; no bytes make it trap.
  @inline(__always)
  package init?(trusting record: RawSpan) {
    guard record.byteCount >= RecordFormat.fixedSize, record.byte(at: 8) == RecordFormat.version else { return nil }
    fields = RecordFields(rawValue: record.integer(at: 10, as: UInt16.self))
    guard fields.isSubset(of: .known) else { return nil }
    cost = record.integer(at: 12, as: UInt32.self)
    sequence = SequenceNumber(number: record.integer(at: RecordFormat.sequenceOffset, as: UInt64.self))
    created = WallTime(nanosecondsSince1970: record.integer(at: 24, as: Int64.self))
    end = record.byteCount
    tagsStart = RecordFormat.fixedSize + fields.size
    guard tagsStart <= end else { return nil }
    // The length of the key is the last optional field.
    let keyLengthStart = tagsStart - (fields.contains(.key) ? 4 : 0)
    let keyLength = fields.contains(.key) ? record.integer(at: keyLengthStart, as: UInt32.self) : 0
    let tagsLength = fields.contains(.tags) ? record.integer(at: keyLengthStart - 4, as: UInt32.self) : 0
    // Each length is less than 2³², so the sum cannot overflow.
    guard Int(tagsLength) + Int(keyLength) <= end - tagsStart else { return nil }
    keyStart = tagsStart + Int(tagsLength)
    valueStart = keyStart + Int(keyLength)
  }

  /// Returns the metadata of the record that has this header. Allocates only if the record has tags.
  @inline(__always)
  package func metadata(of record: RawSpan) -> RecordMetadata {
    // Most records have no optional fields.
    fields.isEmpty ? RecordMetadata(created: created, cost: cost) : fullMetadata(of: record)
  }

  @inline(never)
  private func fullMetadata(of record: RawSpan) -> RecordMetadata {
    var metadata = RecordMetadata(created: created, cost: cost)
    // The offsets are in bounds: the initializer compared the size of all optional fields with the record's size.
    fields.decode(record, at: RecordFormat.fixedSize, into: &metadata)
    if fields.contains(.tags) { metadata.tags = RecordTags.decode(record.extracting(tags)) }
    return metadata
  }

  /// Returns the invalidation version of the record that has this header.
  package func invalidationVersion(of record: RawSpan) -> FileInvalidationVersion {
    guard fields.contains(.invalidationVersion) else { return .zero }
    return FileInvalidationVersion(
      number: record.integer(at: RecordFormat.fixedSize + fields.offsetOfInvalidationVersion, as: UInt64.self))
  }

  /// Returns the schema version of the record that has this header.
  func schemaVersion(of record: RawSpan) -> UInt32 {
    guard fields.contains(.schemaVersion) else { return 0 }
    return record.integer(at: RecordFormat.fixedSize + fields.offsetOfSchemaVersion, as: UInt32.self)
  }
}
