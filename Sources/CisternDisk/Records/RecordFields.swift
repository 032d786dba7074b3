import CisternCore

/// The optional fields of a record: which are present, their sizes, and their encoding. Both record formats share them.
///
/// The fields follow the fixed ones in this order: windows within the grace (8 each), expiration time (8), grace (8),
/// time to idle (8), last access time (8), refresh ahead (8), invalidation version (8), cost (4), schema version (4),
/// length of the tags (4), length of the key (4). Numbers are little-endian and unaligned.
struct RecordFields: OptionSet {
  let rawValue: UInt16
  static let expiry = RecordFields(rawValue: 1)
  static let grace = RecordFields(rawValue: 2)
  static let idle = RecordFields(rawValue: 4)
  static let lastUsed = RecordFields(rawValue: 8)
  static let refreshAhead = RecordFields(rawValue: 16)
  static let invalidationVersion = RecordFields(rawValue: 32)
  static let schemaVersion = RecordFields(rawValue: 64)
  static let tags = RecordFields(rawValue: 128)
  static let key = RecordFields(rawValue: 256)
  /// The value is a negative result. This needs no bytes.
  static let negative = RecordFields(rawValue: 512)
  static let windows = RecordFields(rawValue: 1024)
  /// The cost is not the one that follows from the value's size. Only packed records have this field.
  static let cost = RecordFields(rawValue: 2048)
  /// The fields of a record under a file key.
  static let known = RecordFields(rawValue: 2047)
  /// The fields of a packed record.
  static let packed = RecordFields(rawValue: 4095)

  /// The fields of a record that has a summary. The invalidation version is no part of a summary.
  static let summarized: RecordFields = [.expiry, .invalidationVersion, .schemaVersion]

  /// Returns the fields that a record with this metadata needs, without the cost.
  init(of metadata: RecordMetadata, storesKeyLength: Bool) {
    self = []
    if metadata.expires != nil { insert(.expiry) }
    if metadata.grace != 0 { insert(.grace) }
    if metadata.idle != 0 { insert(.idle) }
    if metadata.lastUsed != nil { insert(.lastUsed) }
    if metadata.refreshAhead != 0 { insert(.refreshAhead) }
    if metadata.invalidationVersion != 0 { insert(.invalidationVersion) }
    if metadata.schemaVersion != 0 { insert(.schemaVersion) }
    if !metadata.tags.isEmpty { insert(.tags) }
    if storesKeyLength { insert(.key) }
    if metadata.isNegative { insert(.negative) }
    if !metadata.windows.areUnlimited { insert(.windows) }
  }

  init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The size of the fields in bytes, without the tags and the key.
  @inline(__always)
  var size: Int {
    8 * (rawValue & Self.longNumbers).nonzeroBitCount + 4 * (rawValue & Self.shortNumbers).nonzeroBitCount
      + (contains(.windows) ? 16 : 0)
  }

  /// The fields of eight bytes: from the expiration time to the invalidation version.
  private static let longNumbers: UInt16 = 63
  /// The fields of four bytes: the schema version, the lengths, and the cost.
  private static let shortNumbers: UInt16 = 448 | 2048

  /// The offset of the invalidation version from the first field.
  var offsetOfInvalidationVersion: Int {
    intersection([.windows, .expiry, .grace, .idle, .lastUsed, .refreshAhead]).size
  }

  /// The offset of the schema version from the first field.
  var offsetOfSchemaVersion: Int {
    intersection([.windows, .expiry, .grace, .idle, .lastUsed, .refreshAhead, .invalidationVersion, .cost]).size
  }

  /// Writes the fields, without the tags and the key, and advances the offset.
  @_lifetime(target: copy target)
  func encode(
    _ metadata: RecordMetadata, tagsSize: Int, keySize: Int, into target: inout MutableRawSpan, at offset: inout Int
  ) {
    if contains(.windows) {
      target.store(metadata.windows.whileRevalidate, at: &offset)
      target.store(metadata.windows.ifError, at: &offset)
    }
    if let expires = metadata.expires { target.store(expires.nanosecondsSince1970, at: &offset) }
    if contains(.grace) { target.store(metadata.grace, at: &offset) }
    if contains(.idle) { target.store(metadata.idle, at: &offset) }
    if let lastUsed = metadata.lastUsed { target.store(lastUsed.nanosecondsSince1970, at: &offset) }
    if contains(.refreshAhead) { target.store(metadata.refreshAhead, at: &offset) }
    if contains(.invalidationVersion) { target.store(metadata.invalidationVersion, at: &offset) }
    if contains(.cost) { target.store(metadata.cost, at: &offset) }
    if contains(.schemaVersion) { target.store(metadata.schemaVersion, at: &offset) }
    if contains(.tags) { target.store(UInt32(tagsSize), at: &offset) }
    if contains(.key) { target.store(UInt32(keySize), at: &offset) }
  }

  /// Reads the fields from the offset on, without the tags and the key. The record must have them all.
  func decode(_ record: RawSpan, at start: Int, into metadata: inout RecordMetadata) {
    var offset = start
    if contains(.windows) {
      metadata.windows = StaleWindows(whileRevalidate: record.next(at: &offset), ifError: record.next(at: &offset))
    }
    if contains(.expiry) { metadata.expires = WallTime(nanosecondsSince1970: record.next(at: &offset)) }
    if contains(.grace) { metadata.grace = record.next(at: &offset) }
    if contains(.idle) { metadata.idle = record.next(at: &offset) }
    if contains(.lastUsed) { metadata.lastUsed = WallTime(nanosecondsSince1970: record.next(at: &offset)) }
    if contains(.refreshAhead) { metadata.refreshAhead = record.next(at: &offset) }
    if contains(.invalidationVersion) {
      metadata.fileVersion = FileInvalidationVersion(number: record.next(at: &offset))
    }
    if contains(.cost) { metadata.cost = record.next(at: &offset) }
    if contains(.schemaVersion) { metadata.schemaVersion = record.next(at: &offset) }
    metadata.isNegative = contains(.negative)
  }
}

extension RawSpan {
  /// Returns the little-endian number at the offset, and advances the offset. Traps if the number is out of bounds.
  @inline(__always)
  func next<Number: FixedWidthInteger & BitwiseCopyable>(at offset: inout Int) -> Number {
    defer { offset += MemoryLayout<Number>.size }
    return integer(at: offset, as: Number.self)
  }
}

extension MutableRawSpan {
  /// Stores the number in little-endian order, and advances the offset. Traps if the number is out of bounds.
  @_lifetime(self: copy self)
  mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: inout Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    offset += MemoryLayout<Number>.size
  }
}
