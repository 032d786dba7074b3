import LMDB

/// The tables of a dense file.
struct DenseTables: Sendable {
  static let indexName = "index"
  static let extentsName = "extents"
  static let rowsName = "rows"

  /// The items that lead to records. The keys are generations.
  let index: IndexDatabase
  /// The extents by their numbers, and the separate records. See ``ExtentRow/Key``.
  let extents: IntegerDatabase
  /// The rows of extents and of separate records, under the same keys.
  let rows: IntegerDatabase
  /// The store's own rows. See ``MetaTable``.
  let meta: Database
  let limits: ExtentLimits
  /// The places of extents that reads have learned.
  let places: ValuePlaces

  /// Opens the tables of an environment. Creates missing ones unless the environment is read-only.
  ///
  /// A new file must get its first rows by ``putFirstRows(in:)`` in the transaction that writes its format.
  ///
  /// - Parameters:
  ///   - environment: The environment, with an open table of the store's own rows.
  ///   - meta: That table.
  ///   - new: The layout of a new file. Nil for the one that follows from the size of the map.
  /// - Throws: `LMDBError` with the code `corrupted` if the row of the log is damaged.
  init(_ environment: Environment, meta: Database, new: ExtentLayout? = nil) throws(LMDBError) {
    let row = try environment.withRead { (transaction) throws(LMDBError) in
      try transaction.row(forKey: MetaTable.log, in: meta)
    }
    let pageSize = try environment.information().pageSize
    var layout = new ?? ExtentLayout(mapSize: environment.options.mapSize, pageSize: pageSize)
    if let row {
      guard let read = LogRow(row.rawSpan) else { throw ExtentState.damaged("the row of the log") }
      layout = read.layout
    }
    index = try environment.openIndexDatabase(named: Self.indexName)
    extents = try environment.openIntegerDatabase(named: Self.extentsName)
    rows = try environment.openIntegerDatabase(named: Self.rowsName)
    self.meta = meta
    limits = ExtentLimits(layout: layout, pageCount: environment.options.mapSize / pageSize, pageSize: pageSize)
    // Twice the number of extents that fit into the map, because numbers of released ones are not used again.
    places = environment.places(
      of: extents, byteCount: layout.capacity, capacity: 2 * environment.options.mapSize / layout.size)
  }

  /// Writes the rows of a file without extents.
  func putFirstRows(in transaction: inout WriteTransaction) throws(LMDBError) {
    let row = LogRow(ExtentLog(layout: limits.layout), nextSeparate: SeparateNumber(number: 0), reclaim: nil)
    try transaction.put(row.bytes, forKey: MetaTable.log, in: meta)
  }
}

extension ExtentState {
  /// Reads the state of the file in a snapshot.
  init(reading transaction: borrowing ReadTransaction, _ tables: DenseTables) throws(LMDBError) {
    try self.init(
      Self.rows(in: transaction, tables), committed: transaction.transactionNumber)
  }

  /// Reads the state of the file in a write transaction that has changed nothing.
  init(reading transaction: borrowing WriteTransaction, _ tables: DenseTables) throws(LMDBError) {
    try self.init(
      Self.rows(in: transaction, tables), committed: transaction.transactionNumber.previous())
  }

  private static func rows<T: Transaction & ~Copyable & ~Escapable>(
    in transaction: borrowing T, _ tables: DenseTables
  ) throws(LMDBError) -> Rows {
    guard let log = try transaction.row(forKey: MetaTable.log, in: tables.meta) else {
      throw damaged("the row of the log")
    }
    var rows = Rows(log: log)
    var extents = try transaction.cursor(in: tables.rows)
    while try extents.moveToNext() {
      if let key = extents.key { rows.extents[UInt64(key)] = extents.value?.copiedBytes() }
    }
    var cursor = try transaction.cursor(in: tables.meta)
    var isAtRow = try cursor.move(toFirstFrom: [MetaTable.partitionNumberPrefix].rawSpan)
    while isAtRow, try addPartitionNumber(at: cursor, to: &rows) { isAtRow = try cursor.moveToNext() }
    return rows
  }

  /// Adds the number at the cursor. Returns false if the cursor is behind the numbers.
  private static func addPartitionNumber(
    at cursor: borrowing Cursor<Database, CursorReads>, to rows: inout Rows
  ) throws(LMDBError) -> Bool {
    guard let key = cursor.key, let row = cursor.value, key.byte(at: 0) == MetaTable.partitionNumberPrefix else {
      return false
    }
    guard let number = MetaTable.partitionNumber(key) else { return true }
    let value = try MetaTable.unsealed(row, under: key.copiedBytes())
    guard let generation = MetaTable.number(value.rawSpan) else { throw damaged("the numbers of partitions") }
    rows.partitionNumbers[number] = Generation(number: generation)
    return true
  }
}
