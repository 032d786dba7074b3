import CisternCore
import LMDB

extension MetaTable {
  /// Returns the key of the row that names the codec of a cache's records of one schema version.
  ///
  /// A cache that an older version of the store wrote has no row of this kind. The next commit of that cache adds it.
  static func format(ofVersion schemaVersion: UInt32, _ name: String) -> [UInt8] {
    formatPrefix + value(UInt64(schemaVersion)) + name.utf8
  }

  static let formatPrefix = [UInt8(ascii: "c")]

  /// Returns the schema version in the key of a format row, or nil if the key belongs to another cache.
  static func version(ofFormat key: [UInt8], named name: String) -> UInt32? {
    guard key.count >= 9, key.dropFirst(9).elementsEqual(name.utf8) else { return nil }
    return UInt32(truncatingIfNeeded: key.rawSpan.integer(at: 1, as: UInt64.self))
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the codec of the cache's records of this schema version, or nil if the file names none.
  borrowing func codec(
    ofVersion schemaVersion: UInt32, of name: String, in database: Database
  ) throws(LMDBError) -> String? {
    let row = try row(forKey: MetaTable.format(ofVersion: schemaVersion, name), in: database)
    return row.map { String(decoding: $0, as: UTF8.self) }
  }
}
