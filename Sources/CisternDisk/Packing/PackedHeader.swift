import CisternCore

/// The fields of a packed record, and the ranges of its variable parts. Reading them copies nothing, and accepts
/// arbitrary bytes.
struct PackedHeader {
  /// The number that names the generation of the record's partition.
  let partition: PartitionNumber
  /// The size of the record without the zeros at its end, in bytes.
  let size: Int
  private let created: WallTime
  private let fields: RecordFields
  private let tagsStart: Int
  private let keyStart: Int
  private let valueStart: Int

  /// The ranges of the tags, of the key, and of the value in the record.
  var tags: Range<Int> { tagsStart..<keyStart }
  var key: Range<Int> { keyStart..<valueStart }
  var value: Range<Int> { valueStart..<size }
  /// The number of bytes from the record's first byte to the next record.
  var room: Int { PackedRecordFormat.room(for: size) }

  /// Reads the fields of the record at the start of `bytes`, which can be arbitrary. Returns nil if the checksum at
  /// this address or a length is wrong.
  @inline(__always)
  init?(_ bytes: RawSpan, at address: RecordAddress) {
    self.init(trusting: bytes, at: address)
    guard isSound(bytes, at: address) else { return nil }
  }

  /// Reads the fields without checking the checksum. Returns nil if a length is wrong; no bytes make it trap.
  ///
  /// - Parameters:
  ///   - bytes: The bytes from the record's first one on. The bytes of a separate record must end with it.
  ///   - address: The address of the record.
  @inline(__always)
  init?(trusting bytes: RawSpan, at address: RecordAddress) {
    guard bytes.byteCount >= PackedRecordFormat.headerSize else { return nil }
    let sizes = bytes.integer(at: 12, as: UInt32.self)
    let lowSize = Int(sizes & 0xFF_FFFF)
    if address.isSeparate {
      // The low bits state how many of the last four bytes belong to the record.
      size = bytes.byteCount - (-lowSize & (RecordAddress.unit - 1))
      guard size & 0xFF_FFFF == lowSize, bytes.byteCount % RecordAddress.unit == 0 else { return nil }
    } else {
      size = lowSize
      guard PackedRecordFormat.room(for: size) <= bytes.byteCount else { return nil }
    }
    fields = RecordFields(rawValue: bytes.integer(at: 16, as: UInt16.self))
    guard fields.isSubset(of: .packed) else { return nil }
    created = WallTime(nanosecondsSince1970: bytes.integer(at: 4, as: Int64.self))
    partition = PartitionNumber(number: bytes.integer(at: 18, as: UInt16.self))
    tagsStart = PackedRecordFormat.headerSize + fields.size
    guard tagsStart <= size else { return nil }
    var keySize = Int(sizes >> 24)
    // The length of the key is the last optional field, and the length of the tags is the field before it.
    let keyLengthStart = tagsStart - (fields.contains(.key) ? 4 : 0)
    if fields.contains(.key) {
      guard keySize == 0 else { return nil }
      keySize = Int(bytes.integer(at: keyLengthStart, as: UInt32.self))
      guard keySize > PackedRecordFormat.longestShortKey else { return nil }
    }
    let tagsSize = fields.contains(.tags) ? Int(bytes.integer(at: keyLengthStart - 4, as: UInt32.self)) : 0
    // Each length is less than 2³², so the sum cannot overflow.
    guard tagsSize + keySize <= size - tagsStart else { return nil }
    keyStart = tagsStart + tagsSize
    valueStart = keyStart + keySize
  }

  /// Returns whether the checksum of the record that has this header is right at its address.
  @inline(__always)
  func isSound(_ bytes: RawSpan, at address: RecordAddress) -> Bool {
    bytes.integer(at: 0, as: UInt32.self)
      == PackedRecordFormat.checksum(of: bytes.extracting(0..<room), at: address)
  }

  /// Returns the metadata of the record that has this header. Allocates only if the record has tags.
  @inline(__always)
  func metadata(of record: RawSpan) -> RecordMetadata {
    let cost = PackedRecordFormat.defaultCost(ofValueSize: value.count)
    // Most records have no optional fields.
    return fields.isEmpty ? RecordMetadata(created: created, cost: cost) : fullMetadata(of: record, cost: cost)
  }

  @inline(never)
  private func fullMetadata(of record: RawSpan, cost: UInt32) -> RecordMetadata {
    var metadata = RecordMetadata(created: created, cost: cost)
    // The offsets are in bounds: the initializer compared the size of all optional fields with the record's size.
    fields.decode(record, at: PackedRecordFormat.headerSize, into: &metadata)
    if fields.contains(.tags) { metadata.tags = RecordTags.decode(record.extracting(tags)) }
    return metadata
  }

  /// Returns the invalidation version of the record that has this header.
  func invalidationVersion(of record: RawSpan) -> FileInvalidationVersion {
    guard fields.contains(.invalidationVersion) else { return .zero }
    let offset = PackedRecordFormat.headerSize + fields.offsetOfInvalidationVersion
    return FileInvalidationVersion(number: record.integer(at: offset, as: UInt64.self))
  }

  /// Returns the schema version of the record that has this header.
  func schemaVersion(of record: RawSpan) -> UInt32 {
    guard fields.contains(.schemaVersion) else { return 0 }
    return record.integer(at: PackedRecordFormat.headerSize + fields.offsetOfSchemaVersion, as: UInt32.self)
  }
}
