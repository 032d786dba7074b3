import LMDB

/// What the store's own table holds, beside the records and their order: the format, and the generations of partitions.
///
///     "format"           the version of all of this
///     "next"             the next generation
///     "store"            the identity of the file, which its mark has too; a file of an older version has none
///     "p" + name         the generation of the partition
///     "g" + generation   live: its counts
///     "d" + generation   dead: its records are to be purged
///
/// Numbers are of eight bytes; in keys the greatest byte first, else the least. Behind each value is a checksum of its key
/// and itself: a generation that is another one's would show the records of another cache.
enum MetaTable {
  /// The version that this code writes, and the only one that it reads.
  static let formatVersion: UInt64 = 3
  /// The longest name of a partition, in bytes of UTF-8; LMDB's keys end at 511.
  static let longestName = 500

  static let format = [UInt8]("format".utf8)
  static let next = [UInt8]("next".utf8)
  static let identity = [UInt8]("store".utf8)
  static let deadPrefix = UInt8(ascii: "d")

  static func partition(_ name: String) -> [UInt8] { [UInt8(ascii: "p")] + name.utf8 }
  static func live(_ generation: UInt64) -> [UInt8] { [UInt8(ascii: "g")] + bytes(generation.bigEndian) }
  static func dead(_ generation: UInt64) -> [UInt8] { [deadPrefix] + bytes(generation.bigEndian) }

  /// The generation that a key of the dead names; nil for other keys.
  static func deadGeneration(_ key: RawSpan) -> UInt64? {
    guard key.byteCount == 9, key.byte(at: 0) == deadPrefix else { return nil }
    return key.integer(at: 1, as: UInt64.self).byteSwapped
  }

  /// The generation whose counts lie under the key; nil for other keys.
  static func liveGeneration(_ key: RawSpan) -> UInt64? {
    guard key.byteCount == 9, key.byte(at: 0) == UInt8(ascii: "g") else { return nil }
    return key.integer(at: 1, as: UInt64.self).byteSwapped
  }

  /// The dead generation that the cursor's key names; nil for another key, and where there is none.
  static func deadGeneration(at cursor: borrowing Cursor<Database, CursorReads>) -> UInt64? {
    guard let key = cursor.key else { return nil }
    return deadGeneration(key)
  }

  static func value(_ number: UInt64) -> [UInt8] { bytes(number.littleEndian) }

  static func number(_ value: RawSpan) -> UInt64? {
    value.byteCount == 8 ? value.integer(at: 0, as: UInt64.self) : nil
  }

  private static let seed: UInt64 = 0x452e_38d0_13a9_5c17

  /// The value as it is written under the key, with its checksum.
  static func sealed(_ value: [UInt8], under key: [UInt8]) -> [UInt8] {
    value + bytes(checksum(of: value, under: key))
  }

  /// The value that was written under the key; throws where it is not as it was written.
  static func unsealed(_ row: RawSpan, under key: [UInt8]) throws(LMDBError) -> [UInt8] {
    let size = row.byteCount - MemoryLayout<UInt64>.size
    if size >= 0 {
      let value = row.extracting(0..<size).copiedBytes()
      if row.integer(at: size, as: UInt64.self) == checksum(of: value, under: key) { return value }
    }
    throw LMDBError(.corrupted, operation: "read the store's own table", message: "a row fails its checksum")
  }

  private static func checksum(of value: [UInt8], under key: [UInt8]) -> UInt64 {
    Checksum.of(value.rawSpan, seed: Checksum.of(key.rawSpan, seed: seed))
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

/// How many records a generation has, and how many bytes they have with their keys.
struct GenerationCounts: Sendable, Equatable {
  var records = 0
  var bytes = 0

  init() {}

  init?(_ value: RawSpan) {
    guard value.byteCount == 16 else { return nil }
    records = Int(truncatingIfNeeded: value.integer(at: 0, as: Int64.self))
    bytes = Int(truncatingIfNeeded: value.integer(at: 8, as: Int64.self))
  }

  var value: [UInt8] {
    MetaTable.value(UInt64(bitPattern: Int64(records))) + MetaTable.value(UInt64(bitPattern: Int64(bytes)))
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// The value under the key; nil where there is none. Throws where it is not as it was written.
  borrowing func row(forKey key: [UInt8], in database: Database) throws(LMDBError) -> [UInt8]? {
    guard let row = try value(forKey: key.rawSpan, in: database) else { return nil }
    return try MetaTable.unsealed(row, under: key)
  }

  /// The number under the key; nil where there is none, the greatest where there is something else.
  borrowing func number(forKey key: [UInt8], in database: Database) throws(LMDBError) -> UInt64? {
    guard let value = try row(forKey: key, in: database) else { return nil }
    return MetaTable.number(value.rawSpan) ?? .max
  }

  /// The counts of a live generation; nil for one that is not.
  borrowing func counts(of generation: UInt64, in database: Database) throws(LMDBError) -> GenerationCounts? {
    guard let value = try row(forKey: MetaTable.live(generation), in: database) else { return nil }
    return GenerationCounts(value.rawSpan)
  }
}

extension WriteTransaction {
  /// Stores the value under the key, with its checksum.
  mutating func put(_ value: [UInt8], forKey key: [UInt8], in database: Database) throws(LMDBError) {
    _ = try put(MetaTable.sealed(value, under: key).rawSpan, forKey: key.rawSpan, in: database)
  }

  /// Removes the key; false where there is none.
  mutating func remove(_ key: [UInt8], in database: Database) throws(LMDBError) -> Bool {
    try removeValue(forKey: key.rawSpan, in: database)
  }
}
