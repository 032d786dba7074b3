import CisternCore

/// The layout of a record in the file. Numbers are little-endian and unaligned.
///
///      0  checksum of the file key and of all bytes from offset 8
///      8  format version          9  zero
///     10  flags, two bytes: the optional fields that are present, and whether the value is a negative result
///     12  cost                   16  sequence number
///     24  time of creation
///     32  optional, in this order: windows within the grace (8 each), expiration time (8), grace (8), time to idle (8), last access time (8),
///         refresh ahead (8), invalidation version (8), schema version (4), length of the tags (4), of the key (4);
///         then the tags, the key if the file key is only its digest, and the value's bytes up to the end
package enum RecordFormat {
  /// The format version that this code writes. It is also the only version that this code reads.
  static let version: UInt8 = 2
  /// The size of the fields that every record has.
  package static let fixedSize = 32
  static let sequenceOffset = 16

  private static let keySeed: UInt64 = 0x2545_f491_4f6c_dd1d

  struct Flags: OptionSet {
    let rawValue: UInt16
    static let expiry = Flags(rawValue: 1)
    static let grace = Flags(rawValue: 2)
    static let idle = Flags(rawValue: 4)
    static let lastUsed = Flags(rawValue: 8)
    static let refreshAhead = Flags(rawValue: 16)
    static let invalidationVersion = Flags(rawValue: 32)
    static let schemaVersion = Flags(rawValue: 64)
    static let tags = Flags(rawValue: 128)
    static let key = Flags(rawValue: 256)
    static let negative = Flags(rawValue: 512)
    static let windows = Flags(rawValue: 1024)
    static let known = Flags(rawValue: 2047)

    /// The size in bytes of the optional fields, without the tags and the key.
    var optionalSize: Int {
      // The windows have 16 bytes together, the next six fields have eight bytes each, and the next three four bytes.
      8 * (rawValue & 63).nonzeroBitCount + 4 * (rawValue & 448).nonzeroBitCount + (contains(.windows) ? 16 : 0)
    }
  }

  /// Returns the checksum of the record under `key`.
  @inline(__always)
  static func checksum(of record: RawSpan, under key: RawSpan) -> UInt64 {
    checksum(of: record, seed: seed(of: key))
  }

  /// Returns the checksum seed of records under `key`.
  @inline(__always)
  static func seed(of key: RawSpan) -> UInt64 { Checksum.of(key, seed: keySeed) }

  @inline(__always)
  static func checksum(of record: RawSpan, seed: UInt64) -> UInt64 {
    Checksum.of(record.extracting(8..<record.byteCount), seed: seed)
  }
}

/// The fields of a record, and the ranges of its variable parts. Reading them copies nothing, and accepts arbitrary
/// bytes.
package struct RecordHeader {
  package let sequence: SequenceNumber
  private let created: WallTime
  private let cost: UInt32
  private let flags: RecordFormat.Flags
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
    flags = RecordFormat.Flags(rawValue: record.integer(at: 10, as: UInt16.self))
    guard flags.isSubset(of: .known) else { return nil }
    cost = record.integer(at: 12, as: UInt32.self)
    sequence = SequenceNumber(number: record.integer(at: RecordFormat.sequenceOffset, as: UInt64.self))
    created = WallTime(nanosecondsSince1970: record.integer(at: 24, as: Int64.self))
    end = record.byteCount
    tagsStart = RecordFormat.fixedSize + flags.optionalSize
    guard tagsStart <= end else { return nil }
    // The length of the key is the last optional field.
    let keyLengthStart = tagsStart - (flags.contains(.key) ? 4 : 0)
    let keyLength = flags.contains(.key) ? record.integer(at: keyLengthStart, as: UInt32.self) : 0
    let tagsLength = flags.contains(.tags) ? record.integer(at: keyLengthStart - 4, as: UInt32.self) : 0
    // Each length is less than 2³², so the sum cannot overflow.
    guard Int(tagsLength) + Int(keyLength) <= end - tagsStart else { return nil }
    keyStart = tagsStart + Int(tagsLength)
    valueStart = keyStart + Int(keyLength)
  }

  /// Returns the metadata of the record that has this header. Allocates only if the record has tags.
  @inline(__always)
  package func metadata(of record: RawSpan) -> RecordMetadata {
    // Most records have no optional fields.
    flags.isEmpty ? RecordMetadata(created: created, cost: cost) : fullMetadata(of: record)
  }

  @inline(never)
  private func fullMetadata(of record: RawSpan) -> RecordMetadata {
    var metadata = RecordMetadata(created: created, cost: cost)
    // The offsets are in bounds: the initializer compared the size of all optional fields with the record's size.
    var offset = RecordFormat.fixedSize
    if flags.contains(.windows) {
      metadata.windows = StaleWindows(whileRevalidate: record.next(at: &offset), ifError: record.next(at: &offset))
    }
    if flags.contains(.expiry) { metadata.expires = WallTime(nanosecondsSince1970: record.next(at: &offset)) }
    if flags.contains(.grace) { metadata.grace = record.next(at: &offset) }
    if flags.contains(.idle) { metadata.idle = record.next(at: &offset) }
    if flags.contains(.lastUsed) { metadata.lastUsed = WallTime(nanosecondsSince1970: record.next(at: &offset)) }
    if flags.contains(.refreshAhead) { metadata.refreshAhead = record.next(at: &offset) }
    if flags.contains(.invalidationVersion) {
      metadata.fileVersion = FileInvalidationVersion(number: record.next(at: &offset))
    }
    if flags.contains(.schemaVersion) { metadata.schemaVersion = record.next(at: &offset) }
    if flags.contains(.tags) { metadata.tags = RecordTags.decode(record.extracting(tags)) }
    metadata.isNegative = flags.contains(.negative)
    return metadata
  }

  /// Returns the invalidation version of the record that has this header.
  package func invalidationVersion(of record: RawSpan) -> FileInvalidationVersion {
    guard flags.contains(.invalidationVersion) else { return .zero }
    // The version follows the eight-byte fields that precede it in the layout.
    let before = flags.intersection([.windows, .expiry, .grace, .idle, .lastUsed, .refreshAhead])
    return FileInvalidationVersion(
      number: record.integer(at: RecordFormat.fixedSize + before.optionalSize, as: UInt64.self))
  }

  /// Returns the schema version of the record that has this header.
  func schemaVersion(of record: RawSpan) -> UInt32 {
    guard flags.contains(.schemaVersion) else { return 0 }
    // The schema version follows all eight-byte fields.
    let before = flags.intersection([.windows, .expiry, .grace, .idle, .lastUsed, .refreshAhead, .invalidationVersion])
    return record.integer(at: RecordFormat.fixedSize + before.optionalSize, as: UInt32.self)
  }
}

extension RawSpan {
  /// Returns the little-endian number at the offset, and advances the offset. Traps if the number is out of bounds.
  @inline(__always)
  fileprivate func next<Number: FixedWidthInteger & BitwiseCopyable>(at offset: inout Int) -> Number {
    defer { offset += MemoryLayout<Number>.size }
    return integer(at: offset, as: Number.self)
  }
}
