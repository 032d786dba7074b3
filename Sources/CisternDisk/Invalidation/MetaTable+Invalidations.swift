import CisternCore
import LMDB

extension MetaTable {
  static func invalidationVersions(_ name: String) -> [UInt8] { [UInt8(ascii: "e")] + name.utf8 }

  /// Returns the common prefix of the keys of all invalidations of a partition that are in force.
  static func invalidations(_ name: String) -> [UInt8] { [UInt8(ascii: "i")] + digest(Array(name.utf8)) }

  static func invalidation(_ invalidation: Invalidation, of name: String) -> [UInt8] {
    invalidations(name) + digest(body(of: invalidation))
  }

  /// Returns the common prefix of the keys of all ended invalidations of a partition.
  static func ended(_ name: String) -> [UInt8] { [UInt8(ascii: "x")] + digest(Array(name.utf8)) }

  /// Returns the key of an ended invalidation. The keys sort by version, because the version is big-endian.
  static func ended(_ invalidationVersion: FileInvalidationVersion, of name: String) -> [UInt8] {
    ended(name) + value(invalidationVersion.number.byteSwapped)
  }

  package static func value(_ invalidation: Invalidation, invalidationVersion: FileInvalidationVersion) -> [UInt8] {
    value(invalidationVersion.number) + body(of: invalidation)
  }

  /// Returns the invalidation in the cursor's row, or nil if the row is not an invalidation.
  ///
  /// - Throws: `LMDBError` with the code `corrupted` if the row fails its checksum.
  static func invalidation(
    at cursor: borrowing Cursor<Database, CursorReads>
  ) throws(LMDBError) -> (Invalidation, invalidationVersion: FileInvalidationVersion)? {
    guard let key = cursor.key, let row = cursor.value else { return nil }
    let value = try unsealed(row, under: key.copiedBytes())
    return invalidation(value.rawSpan)
  }

  /// Decodes an invalidation from arbitrary bytes, or returns nil if the bytes are not an invalidation.
  package static func invalidation(_ value: RawSpan) -> (Invalidation, invalidationVersion: FileInvalidationVersion)? {
    guard value.byteCount >= 9 else { return nil }
    let invalidationVersion = FileInvalidationVersion(number: value.integer(at: 0, as: UInt64.self))
    let rest = value.extracting(9..<value.byteCount).copiedBytes()
    switch value.byte(at: 8) {
    case 0: return (.tag(String(decoding: rest, as: UTF8.self)), invalidationVersion)
    case 1: return (.prefix(rest), invalidationVersion)
    default: return nil
    }
  }

  private static func body(of invalidation: Invalidation) -> [UInt8] {
    switch invalidation {
    case .tag(let tag): [0] + tag.utf8
    case .prefix(let prefix): [1] + prefix
    }
  }

  private static func digest(_ bytes: [UInt8]) -> [UInt8] {
    value(Checksum.of(bytes.rawSpan, seed: 0x243f_6a88_85a3_08d3))
      + value(Checksum.of(bytes.rawSpan, seed: 0x1319_8a2e_0370_7344))
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the partition's row of versions, or an empty row if the file has none.
  borrowing func invalidationVersionRow(of name: String, in database: Database) throws(LMDBError)
    -> InvalidationVersionRow
  {
    guard let value = try row(forKey: MetaTable.invalidationVersions(name), in: database) else {
      return InvalidationVersionRow()
    }
    return InvalidationVersionRow(value.rawSpan) ?? InvalidationVersionRow()
  }

  /// Returns the invalidations that are in force in the file, and those that ended after the version `known`.
  ///
  /// If `known` is the greatest number, the result has no ended invalidations.
  ///
  /// - Complexity: O(*n*), where *n* is the number of returned invalidations.
  borrowing func invalidationRows(
    of name: String, endedAfter known: FileInvalidationVersion, in database: Database
  ) throws(LMDBError) -> InvalidationRows {
    let ended =
      known == .max ? [:] : try invalidations(from: MetaTable.ended(known.next(), of: name), of: name, in: database)
    return InvalidationRows(
      inForce: try invalidations(from: MetaTable.invalidations(name), of: name, in: database), ended: ended)
  }

  private borrowing func invalidations(
    from start: [UInt8], of name: String, in database: Database
  ) throws(LMDBError) -> [Invalidation: FileInvalidationVersion] {
    var found: [Invalidation: FileInvalidationVersion] = [:]
    let prefix = start.prefix(MetaTable.invalidations(name).count)
    var cursor = try cursor(in: database)
    var isAtRow = try cursor.move(toFirstFrom: start.rawSpan)
    while isAtRow, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) {
      if let (invalidation, invalidationVersion) = try MetaTable.invalidation(at: cursor) {
        found[invalidation] = max(invalidationVersion, found[invalidation] ?? .zero)
      }
      isAtRow = try cursor.moveToNext()
    }
    return found
  }
}
