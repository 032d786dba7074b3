import CisternCore
import LMDB

extension MetaTable {
  /// The key of the row that names the codec of a cache's records of one version of its schema. Caches that were written
  /// before there was such a row have none, and get one with their next commit.
  static func format(ofVersion schemaVersion: UInt32, _ name: String) -> [UInt8] {
    formatPrefix + value(UInt64(schemaVersion)) + name.utf8
  }

  static let formatPrefix = [UInt8(ascii: "c")]

  /// The version that such a key names; nil for the key of another cache.
  static func version(ofFormat key: [UInt8], named name: String) -> UInt32? {
    guard key.count >= 9, key.dropFirst(9).elementsEqual(name.utf8) else { return nil }
    return UInt32(truncatingIfNeeded: key.rawSpan.integer(at: 1, as: UInt64.self))
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// The codec of the cache's records of this version; nil if none is noted.
  borrowing func codec(
    ofVersion schemaVersion: UInt32, of name: String, in database: Database
  ) throws(LMDBError) -> String? {
    let row = try row(forKey: MetaTable.format(ofVersion: schemaVersion, name), in: database)
    return row.map { String(decoding: $0, as: UTF8.self) }
  }
}
