import LMDB

/// The tables of a file whose records are values under their keys.
struct OrderedTables: Sendable {
  /// The records, by their keys in the file.
  ///
  /// This is LMDB's unnamed table, because each transaction must look up a named one. The names of the other tables
  /// are in it too. They are shorter than any record's key.
  let records: Database
  /// The eviction order: the keys in the file by sequence number, the oldest first.
  let order: IntegerDatabase

  /// Five bytes, like the name of the table of rows. A record's key has at least six, so the two never collide.
  static let orderName = "order"

  init(_ environment: Environment) throws(LMDBError) {
    records = try environment.openDatabase(named: nil)
    order = try environment.openIntegerDatabase(named: Self.orderName)
  }
}
