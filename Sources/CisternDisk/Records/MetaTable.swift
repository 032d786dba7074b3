import CisternCore
import LMDB

/// The layout of the store's own table: the file format, the partitions, and their generations.
///
///     "format"           the version of the file format
///     "next"             the next partition generation
///     "store"            the identity of the file, which its mark repeats; files of older versions have none
///     "p" + name         the generation of the partition
///     "g" + generation   the counts of a live generation
///     "d" + generation   a dead generation, whose records must be purged
///     "log"              of a dense file: the row of the log, see `LogRow`
///     "n" + number       of a dense file: the generation that records name by the number
///     "t" + location        the newer times of a record, see `RecordRenewal`
///
/// The table also holds the rows of formats and of invalidations; see `format(ofVersion:_:)` and
/// `InvalidationVersionRow`.
///
/// Numbers have eight bytes. A generation in a key is big-endian; a number in a value is little-endian. Each value
/// ends with a checksum of its key and the value: a wrong generation would show the records of another cache.
package enum MetaTable {
  /// The length limit of a partition's name, in bytes of UTF-8. LMDB limits a key to 511 bytes.
  static let longestName = 500

  static let format = [UInt8]("format".utf8)
  static let next = [UInt8]("next".utf8)
  static let identity = [UInt8]("store".utf8)
  static let log = [UInt8]("log".utf8)
  /// The key of a value that a transaction stores and removes again.
  static let free = [UInt8]("free".utf8)
  static let deadPrefix = UInt8(ascii: "d")

  static func partition(_ name: String) -> [UInt8] { [UInt8(ascii: "p")] + name.utf8 }
  static func live(_ generation: Generation) -> [UInt8] { [UInt8(ascii: "g")] + bytes(generation.number.bigEndian) }
  package static func dead(_ generation: Generation) -> [UInt8] { [deadPrefix] + bytes(generation.number.bigEndian) }

  /// Returns the generation in the key of a dead generation, or nil for any other key.
  package static func deadGeneration(_ key: RawSpan) -> Generation? {
    guard key.byteCount == 9, key.byte(at: 0) == deadPrefix else { return nil }
    return Generation(number: key.integer(at: 1, as: UInt64.self).byteSwapped)
  }

  /// Returns the generation in the key of a live generation's counts, or nil for any other key.
  static func liveGeneration(_ key: RawSpan) -> Generation? {
    guard key.byteCount == 9, key.byte(at: 0) == UInt8(ascii: "g") else { return nil }
    return Generation(number: key.integer(at: 1, as: UInt64.self).byteSwapped)
  }

  /// Returns the dead generation at the cursor, or nil if the cursor is at another key or at the end.
  static func deadGeneration(at cursor: borrowing Cursor<Database, CursorReads>) -> Generation? {
    guard let key = cursor.key else { return nil }
    return deadGeneration(key)
  }

  static let partitionNumberPrefix = UInt8(ascii: "n")

  static func partitionNumber(_ number: PartitionNumber) -> [UInt8] {
    [partitionNumberPrefix, UInt8(number.number >> 8), UInt8(number.number & 255)]
  }

  /// Returns the number in the key of a generation's name, or nil for any other key.
  static func partitionNumber(_ key: RawSpan) -> PartitionNumber? {
    guard key.byteCount == 3, key.byte(at: 0) == partitionNumberPrefix else { return nil }
    return PartitionNumber(number: key.integer(at: 1, as: UInt16.self).byteSwapped)
  }

  /// Encodes a generation as a value.
  static func value(_ generation: Generation) -> [UInt8] { value(generation.number) }

  /// Encodes a number as a value.
  package static func value(_ number: UInt64) -> [UInt8] { bytes(number.littleEndian) }

  /// Decodes a number, or returns nil if the value does not have eight bytes.
  package static func number(_ value: RawSpan) -> UInt64? {
    value.byteCount == 8 ? value.integer(at: 0, as: UInt64.self) : nil
  }

  private static let seed: UInt64 = 0x452e_38d0_13a9_5c17

  /// Returns the value with its checksum, as the file holds it under the key.
  static func sealed(_ value: [UInt8], under key: [UInt8]) -> [UInt8] {
    value + bytes(checksum(of: value, under: key))
  }

  /// Returns the value of a row without its checksum.
  ///
  /// - Throws: `LMDBError` with the code `corrupted` if the checksum does not match the key and the value.
  static func unsealed(_ row: RawSpan, under key: [UInt8]) throws(LMDBError) -> [UInt8] {
    let size = row.byteCount - MemoryLayout<UInt64>.size
    if size >= 0 {
      let value = row.extracting(0..<size).copiedBytes()
      if row.integer(at: size, as: UInt64.self) == checksum(of: value, under: key) { return value }
    }
    throw LMDBError(.corrupted, operation: "read the store's own table", message: "a row has a wrong checksum")
  }

  private static func checksum(of value: [UInt8], under key: [UInt8]) -> UInt64 {
    Checksum.of(value.rawSpan, seed: Checksum.of(key.rawSpan, seed: seed))
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the value under the key, or nil if the table does not have the key.
  ///
  /// - Throws: `LMDBError` with the code `corrupted` if the row fails its checksum.
  borrowing func row(forKey key: [UInt8], in database: Database) throws(LMDBError) -> [UInt8]? {
    guard let row = try value(forKey: key.rawSpan, in: database) else { return nil }
    return try MetaTable.unsealed(row, under: key)
  }

  /// Returns the number under the key, or nil if the table does not have the key.
  ///
  /// If the value is not a number, the result is the greatest number, which no generation can have.
  borrowing func number(forKey key: [UInt8], in database: Database) throws(LMDBError) -> UInt64? {
    guard let value = try row(forKey: key, in: database) else { return nil }
    return MetaTable.number(value.rawSpan) ?? .max
  }

  /// Returns the counts of a live generation, or nil if the generation is not live.
  borrowing func counts(of generation: Generation, in database: Database) throws(LMDBError) -> GenerationCounts? {
    guard let value = try row(forKey: MetaTable.live(generation), in: database) else { return nil }
    return GenerationCounts(value.rawSpan)
  }
}

extension WriteTransaction {
  /// Stores the value under the key, together with its checksum.
  mutating func put(_ value: [UInt8], forKey key: [UInt8], in database: Database) throws(LMDBError) {
    _ = try put(MetaTable.sealed(value, under: key).rawSpan, forKey: key.rawSpan, in: database)
  }

  /// Removes the key, and returns whether the table had it.
  mutating func remove(_ key: [UInt8], in database: Database) throws(LMDBError) -> Bool {
    try removeValue(forKey: key.rawSpan, in: database)
  }
}
