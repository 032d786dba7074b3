/// How a record lies in the file. Numbers are little-endian, at no alignment.
///
///     0  checksum of the record's key in the file, and then of all that follows here
///     8  format version          9  zero
///    10  flags, two bytes: which of the optional fields there are, and whether the value is a negative result
///    12  cost                   16  sequence number
///    24  time written
///    32  optional, in this order: time of expiry (8), grace (8), idle time (8), time of the last use (8), refresh ahead
///        (8), era (8), schema version (4), length of the tags (4), of the key (4);
///        then the tags, the key where the file's key is only its digest, and to the end the value's bytes
enum RecordFormat {
  /// The version that this code writes, and the only one that it reads.
  static let version: UInt8 = 2
  /// The size of the fields that every record has.
  static let fixedSize = 32
  static let sequenceOffset = 16

  private static let keySeed: UInt64 = 0x2545_f491_4f6c_dd1d

  struct Flags: OptionSet {
    let rawValue: UInt16
    static let expiry = Flags(rawValue: 1)
    static let grace = Flags(rawValue: 2)
    static let idle = Flags(rawValue: 4)
    static let lastUsed = Flags(rawValue: 8)
    static let refreshAhead = Flags(rawValue: 16)
    static let era = Flags(rawValue: 32)
    static let schemaVersion = Flags(rawValue: 64)
    static let tags = Flags(rawValue: 128)
    static let key = Flags(rawValue: 256)
    static let negative = Flags(rawValue: 512)
    static let known = Flags(rawValue: 1023)

    /// The bytes of the optional fields, without the tags and the key themselves.
    var optionalSize: Int {
      // Six fields have eight bytes, the three after them four.
      8 * (rawValue & 63).nonzeroBitCount + 4 * (rawValue & 448).nonzeroBitCount
    }
  }

  /// The checksum that the record has when it lies under `key`.
  @inline(__always)
  static func checksum(of record: RawSpan, under key: RawSpan) -> UInt64 {
    checksum(of: record, seed: seed(of: key))
  }

  /// What a record's checksum begins with that lies under `key`.
  @inline(__always)
  static func seed(of key: RawSpan) -> UInt64 { Checksum.of(key, seed: keySeed) }

  @inline(__always)
  static func checksum(of record: RawSpan, seed: UInt64) -> UInt64 {
    Checksum.of(record.extracting(8..<record.byteCount), seed: seed)
  }
}

/// The fields of a record, and where the rest of it lies. Reading them copies nothing and trusts nothing.
struct RecordHeader {
  let sequence: UInt64
  let created: WallTime
  let cost: UInt32
  let optional: OptionalFields
  /// Where the tags, the whole key (empty where the file's key is it) and the value lie in the record.
  let tags: Range<Int>
  let key: Range<Int>
  let value: Range<Int>

  /// The fields that most records do without.
  struct OptionalFields {
    var expires: WallTime?
    var grace: UInt64 = 0
    var idle: UInt64 = 0
    var lastUsed: WallTime?
    var refreshAhead: UInt64 = 0
    var era: UInt64 = 0
    var schemaVersion: UInt32 = 0
    var isNegative = false
  }

  /// Reads the fields of `record`, which may be any bytes; nil unless its checksum under `diskKey` and its lengths
  /// are right.
  @inline(__always)
  init?(_ record: RawSpan, under diskKey: RawSpan) {
    self.init(record, seed: RecordFormat.seed(of: diskKey))
  }

  /// Reads the fields of `record`, which may be any bytes; nil unless its checksum under `diskKey` and its lengths
  /// are right.
  @inline(__always)
  init?(_ record: RawSpan, under diskKey: borrowing DiskKey) {
    self.init(record, seed: diskKey.withBytes { RecordFormat.seed(of: $0) })
  }

  @inline(__always)
  private init?(_ record: RawSpan, seed: UInt64) {
    guard record.byteCount >= RecordFormat.fixedSize,
      record.integer(at: 0, as: UInt64.self) == RecordFormat.checksum(of: record, seed: seed)
    else { return nil }
    self.init(trusting: record)
  }

  /// Reads the fields without comparing the checksum. Wrong lengths are still found: no bytes make it trap.
  @inline(__always)
  init?(trusting record: RawSpan) {
    guard record.byteCount >= RecordFormat.fixedSize, record.byte(at: 8) == RecordFormat.version else { return nil }
    let flags = RecordFormat.Flags(rawValue: record.integer(at: 10, as: UInt16.self))
    guard flags.isSubset(of: .known) else { return nil }
    cost = record.integer(at: 12, as: UInt32.self)
    sequence = record.integer(at: RecordFormat.sequenceOffset, as: UInt64.self)
    created = WallTime(nanosecondsSince1970: record.integer(at: 24, as: Int64.self))
    var optional = OptionalFields()
    var offset = RecordFormat.fixedSize
    if flags.isEmpty {
      self.optional = optional
      tags = offset..<offset
      key = tags
      value = offset..<record.byteCount
      return
    }
    guard record.byteCount - offset >= flags.optionalSize else { return nil }
    if flags.contains(.expiry) { optional.expires = WallTime(nanosecondsSince1970: record.next(at: &offset)) }
    if flags.contains(.grace) { optional.grace = record.next(at: &offset) }
    if flags.contains(.idle) { optional.idle = record.next(at: &offset) }
    if flags.contains(.lastUsed) { optional.lastUsed = WallTime(nanosecondsSince1970: record.next(at: &offset)) }
    if flags.contains(.refreshAhead) { optional.refreshAhead = record.next(at: &offset) }
    if flags.contains(.era) { optional.era = record.next(at: &offset) }
    if flags.contains(.schemaVersion) { optional.schemaVersion = record.next(at: &offset) }
    optional.isNegative = flags.contains(.negative)
    self.optional = optional
    var tagsLength: UInt32 = 0
    if flags.contains(.tags) { tagsLength = record.next(at: &offset) }
    var keyLength: UInt32 = 0
    if flags.contains(.key) { keyLength = record.next(at: &offset) }
    // Each length is below 2³²: the sum cannot overflow.
    guard Int(tagsLength) + Int(keyLength) <= record.byteCount - offset else { return nil }
    tags = offset..<offset + Int(tagsLength)
    key = tags.upperBound..<tags.upperBound + Int(keyLength)
    value = key.upperBound..<record.byteCount
  }

  /// The metadata; allocates where there are tags.
  @inline(__always)
  func metadata(of record: RawSpan) -> RecordMetadata {
    RecordMetadata(
      created: created, expires: optional.expires, cost: cost, schemaVersion: optional.schemaVersion,
      tags: tags.isEmpty ? [] : RecordTags.decode(record.extracting(tags)), grace: optional.grace, idle: optional.idle,
      lastUsed: optional.lastUsed, refreshAhead: optional.refreshAhead, era: optional.era,
      isNegative: optional.isNegative)
  }
}

extension RawSpan {
  /// The little-endian number at the offset, which moves past it; traps out of bounds.
  @inline(__always)
  fileprivate func next<Number: FixedWidthInteger & BitwiseCopyable>(at offset: inout Int) -> Number {
    defer { offset += MemoryLayout<Number>.size }
    return integer(at: offset, as: Number.self)
  }
}
