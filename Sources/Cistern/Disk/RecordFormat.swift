/// How a record lies in the file. Numbers are little-endian, at no alignment.
///
///     0  checksum of the record's key in the file, and then of all that follows here
///     8  format version          9  flags: which of the optional fields there are
///    10  zero, two bytes        12  cost
///    16  sequence number        24  time written
///    32  optional, in this order: time of expiry (8), schema version (4), length of the tags (4), of the key (4);
///        then the tags, the key where the file's key is only its digest, and to the end the value's bytes
enum RecordFormat {
  /// The version that this code writes, and the only one that it reads.
  static let version: UInt8 = 1
  /// The size of the fields that every record has.
  static let fixedSize = 32
  static let sequenceOffset = 16

  private static let keySeed: UInt64 = 0x2545_f491_4f6c_dd1d

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let expiry = Flags(rawValue: 1)
    static let schemaVersion = Flags(rawValue: 2)
    static let tags = Flags(rawValue: 4)
    static let key = Flags(rawValue: 8)
    static let known: Flags = [.expiry, .schemaVersion, .tags, .key]
  }

  /// The checksum that the record has when it lies under `key`.
  @inline(__always)
  static func checksum(of record: RawSpan, under key: RawSpan) -> UInt64 {
    Checksum.of(record.extracting(8..<record.byteCount), seed: Checksum.of(key, seed: keySeed))
  }
}

/// The fields of a record, and where the rest of it lies. Reading them copies nothing and trusts nothing.
struct RecordHeader {
  let sequence: UInt64
  let created: WallTime
  let expires: WallTime?
  let cost: UInt32
  let schemaVersion: UInt32
  /// Where the tags, the whole key (empty where the file's key is it) and the value lie in the record.
  let tags: Range<Int>
  let key: Range<Int>
  let value: Range<Int>

  /// Reads the fields of `record`, which may be any bytes; nil unless its checksum under `diskKey` and its lengths
  /// are right.
  @inline(__always)
  init?(_ record: RawSpan, under diskKey: RawSpan) {
    guard record.byteCount >= RecordFormat.fixedSize,
      record.integer(at: 0, as: UInt64.self) == RecordFormat.checksum(of: record, under: diskKey)
    else { return nil }
    self.init(trusting: record)
  }

  /// Reads the fields without comparing the checksum. Wrong lengths are still found: no bytes make it trap.
  @inline(__always)
  init?(trusting record: RawSpan) {
    guard record.byteCount >= RecordFormat.fixedSize, record.byte(at: 8) == RecordFormat.version else { return nil }
    let flags = RecordFormat.Flags(rawValue: record.byte(at: 9))
    guard flags.isSubset(of: .known) else { return nil }
    cost = record.integer(at: 12, as: UInt32.self)
    sequence = record.integer(at: RecordFormat.sequenceOffset, as: UInt64.self)
    created = WallTime(nanosecondsSince1970: record.integer(at: 24, as: Int64.self))
    if flags.isEmpty {
      expires = nil
      schemaVersion = 0
      tags = RecordFormat.fixedSize..<RecordFormat.fixedSize
      key = tags
      value = RecordFormat.fixedSize..<record.byteCount
      return
    }
    let optionalSize =
      (flags.contains(.expiry) ? 8 : 0) + (flags.contains(.schemaVersion) ? 4 : 0) + (flags.contains(.tags) ? 4 : 0)
      + (flags.contains(.key) ? 4 : 0)
    var offset = RecordFormat.fixedSize
    guard record.byteCount - offset >= optionalSize else { return nil }
    if flags.contains(.expiry) {
      expires = WallTime(nanosecondsSince1970: record.integer(at: offset, as: Int64.self))
      offset += 8
    } else {
      expires = nil
    }
    if flags.contains(.schemaVersion) {
      schemaVersion = record.integer(at: offset, as: UInt32.self)
      offset += 4
    } else {
      schemaVersion = 0
    }
    var tagsLength = 0
    if flags.contains(.tags) {
      tagsLength = Int(record.integer(at: offset, as: UInt32.self))
      offset += 4
    }
    var keyLength = 0
    if flags.contains(.key) {
      keyLength = Int(record.integer(at: offset, as: UInt32.self))
      offset += 4
    }
    // Each length is below 2³²: the sum cannot overflow.
    guard tagsLength + keyLength <= record.byteCount - offset else { return nil }
    tags = offset..<offset + tagsLength
    key = tags.upperBound..<tags.upperBound + keyLength
    value = key.upperBound..<record.byteCount
  }

  /// The metadata; allocates where there are tags.
  @inline(__always)
  func metadata(of record: RawSpan) -> RecordMetadata {
    RecordMetadata(
      created: created, expires: expires, cost: cost, schemaVersion: schemaVersion,
      tags: tags.isEmpty ? [] : RecordTags.decode(record.extracting(tags)))
  }
}
