import CisternCore
import LMDB

// The rows of renewals: "t", and then the key of the record in the file, or its address in a dense file.

extension MetaTable {
  static let renewalPrefix = UInt8(ascii: "t")

  /// Returns the key of the row with the renewal of a record.
  static func renewal(ofRecordAt location: RecordLocation) -> [UInt8] {
    switch location {
    case .key(let key): [renewalPrefix] + key.copiedBytes()
    case .address(let address):
      [renewalPrefix] + (0..<8).map { UInt8(truncatingIfNeeded: address.bits >> (56 - 8 * $0)) }
    }
  }

  /// Returns whether the key is that of a renewal.
  static func isRenewal(_ key: RawSpan) -> Bool { key.byteCount > 1 && key.byte(at: 0) == renewalPrefix }

  /// Returns whether a cursor is at a renewal.
  fileprivate static func isRenewal(at cursor: borrowing Cursor<Database, CursorReads>) -> Bool {
    guard let key = cursor.key else { return false }
    return isRenewal(key)
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns whether any record has a renewal. O(log *n*).
  borrowing func hasRenewals(in database: Database) throws(LMDBError) -> Bool {
    var cursor = try cursor(in: database)
    guard try cursor.move(toFirstFrom: [MetaTable.renewalPrefix].rawSpan), let key = cursor.key else { return false }
    return MetaTable.isRenewal(key)
  }

  /// Returns the renewal of a record, or nil if the record has none.
  ///
  /// - Throws: `LMDBError` with the code `corrupted` if the row is damaged.
  borrowing func renewal(
    ofRecordAt location: RecordLocation, in database: Database
  ) throws(LMDBError) -> RecordRenewal? {
    guard let row = try row(forKey: MetaTable.renewal(ofRecordAt: location), in: database) else { return nil }
    guard let renewal = RecordRenewal(row.rawSpan) else { throw RecordRenewal.damaged }
    return renewal
  }

  /// Returns the rows of renewals from one key to another in the order of the table. O(*n*).
  borrowing func renewalRows(
    from first: [UInt8] = [MetaTable.renewalPrefix], through last: [UInt8]? = nil, in database: Database
  ) throws(LMDBError) -> [RenewalRow] {
    var rows: [RenewalRow] = []
    var cursor = try cursor(in: database)
    var isAtRow = try cursor.move(toFirstFrom: first.rawSpan)
    while isAtRow, let row = RenewalRow(at: cursor) {
      if let last, last.rawSpan.precedes(row.key.rawSpan) { break }
      rows.append(row)
      isAtRow = try cursor.moveToNext()
    }
    return rows
  }
}

/// A copy of the row of a renewal.
struct RenewalRow {
  let key: [UInt8]
  /// The contents and their checksum.
  let row: [UInt8]

  /// Copies the row at a cursor. Returns nil if it is no renewal.
  fileprivate init?(at cursor: borrowing Cursor<Database, CursorReads>) {
    guard let key = cursor.key, let row = cursor.value, MetaTable.isRenewal(key) else { return nil }
    self.key = key.copiedBytes()
    self.row = row.copiedBytes()
  }

  /// The key of the record in the file. For a record in a dense file, its address.
  var location: [UInt8] { Array(key.dropFirst()) }

  /// Returns the renewal.
  ///
  /// - Throws: `LMDBError` with the code `corrupted` if the row is damaged.
  func renewal() throws(LMDBError) -> RecordRenewal {
    let contents = try MetaTable.unsealed(row.rawSpan, under: key)
    guard let renewal = RecordRenewal(contents.rawSpan) else { throw RecordRenewal.damaged }
    return renewal
  }
}

extension WriteTransaction {
  /// Returns the first row of a renewal in each leaf that is in a range of pages. O(*n*) for all rows.
  ///
  /// Leaves that the transaction has changed are not in the file any more.
  borrowing func firstRenewalRows(
    ofPagesIn window: Range<Int>, of database: Database
  ) throws(LMDBError) -> [RenewalRow] {
    var rows: [RenewalRow] = []
    var former: Int?
    var cursor: Cursor<Database, CursorReads> = try cursor(in: database)
    var isAtRow = try cursor.move(toFirstFrom: [MetaTable.renewalPrefix].rawSpan)
    while isAtRow, MetaTable.isRenewal(at: cursor) {
      var page: Int?
      if let row = cursor.value { page = committedPage(of: row) }
      if let page, page != former, window.contains(page), let row = RenewalRow(at: cursor) { rows.append(row) }
      former = page
      isAtRow = try cursor.moveToNext()
    }
    return rows
  }

  /// Stores the renewal of a record. Removes it if it is nil.
  mutating func put(
    _ renewal: RecordRenewal?, ofRecordAt location: RecordLocation, in database: Database
  ) throws(LMDBError) {
    let key = MetaTable.renewal(ofRecordAt: location)
    if let renewal {
      try put(renewal.bytes, forKey: key, in: database)
    } else {
      _ = try remove(key, in: database)
    }
  }
}

extension RecordRenewal {
  fileprivate static var damaged: LMDBError {
    LMDBError(.corrupted, operation: "read the times of a record", message: "a row has an invalid format")
  }
}
