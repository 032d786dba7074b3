import CisternTestSupport
import LMDB

@testable import CisternDisk

/// The tables of a file of extents in LMDB.
struct FileTables: Sendable {
  let environment: Environment
  let limits: ExtentLimits
  /// The index. Its keys are the generation, the digest and the address. The library will use fixed duplicates instead.
  let index: Database
  let extents: IntegerDatabase
  let rows: IntegerDatabase
  let meta: Database

  init(_ environment: Environment, limits: ExtentLimits) throws(LMDBError) {
    self.environment = environment
    self.limits = limits
    index = try environment.openDatabase(named: "index")
    extents = try environment.openIntegerDatabase(named: "extents")
    rows = try environment.openIntegerDatabase(named: "rows")
    meta = try environment.openDatabase(named: "meta")
  }

  static let logKey = bytes("log")

  static func indexKey(_ item: LocatedDigest, of generation: Generation) -> [UInt8] {
    (0..<6).map { UInt8(truncatingIfNeeded: generation.number >> UInt64(40 - 8 * $0)) } + item.bytes
  }

  static func name(_ number: PartitionNumber) -> [UInt8] { bytes("n\(number.number)") }
}

/// A write transaction of LMDB on a file of extents.
///
/// It shows that the protocols need no more than LMDB has: the position of the index is a key.
struct FileTarget: ExtentTarget, ~Copyable, ~Escapable {
  private var transaction: WriteTransaction
  private let tables: FileTables
  private var position: (generation: Generation, item: LocatedDigest)?

  @_lifetime(copy transaction)
  init(_ transaction: consuming WriteTransaction, _ tables: FileTables) {
    self.transaction = transaction
    self.tables = tables
  }

  /// Returns the transaction for its commit.
  @_lifetime(copy self)
  consuming func end() -> WriteTransaction { transaction }

  // MARK: RecordIndex

  mutating func move(toFirstFrom digest: RecordDigest, of generation: Generation) throws(LMDBError) -> LocatedDigest? {
    guard let first = RecordAddress(bits: 0) else { return nil }
    return try move(
      to: FileTables.indexKey(LocatedDigest(digest: digest, address: first), of: generation), of: generation)
  }

  mutating func moveToNext() throws(LMDBError) -> LocatedDigest? {
    guard let (generation, item) = position else { return nil }
    // The shortest key above that of the item.
    return try move(to: FileTables.indexKey(item, of: generation) + [0], of: generation)
  }

  private mutating func move(to key: [UInt8], of generation: Generation) throws(LMDBError) -> LocatedDigest? {
    guard let found = try firstKey(from: key), found.prefix(6) == key.prefix(6),
      let item = LocatedDigest(found.rawSpan.extracting(6..<18))
    else {
      position = nil
      return nil
    }
    position = (generation, item)
    return item
  }

  private borrowing func firstKey(from key: [UInt8]) throws(LMDBError) -> [UInt8]? {
    var cursor = try transaction.cursor(in: tables.index)
    guard try cursor.move(toFirstFrom: key.rawSpan) else { return nil }
    return cursor.key?.copiedBytes()
  }

  mutating func replaceCurrent(with address: RecordAddress) throws(LMDBError) {
    guard let (generation, item) = position else { return }
    try removeCurrent()
    let replaced = LocatedDigest(digest: item.digest, address: address)
    try insert(replaced, of: generation)
    position = (generation, replaced)
  }

  mutating func removeCurrent() throws(LMDBError) {
    guard let (generation, item) = position else { return }
    _ = try transaction.removeValue(forKey: FileTables.indexKey(item, of: generation).rawSpan, in: tables.index)
  }

  mutating func insert(_ item: LocatedDigest, of generation: Generation) throws(LMDBError) {
    let key = FileTables.indexKey(item, of: generation)
    _ = try transaction.put([UInt8]().rawSpan, forKey: key.rawSpan, in: tables.index)
  }

  // MARK: ExtentValues and ExtentTables

  mutating func write(_ bytes: RawSpan, at offset: Int, in extent: ExtentNumber) throws(LMDBError) {
    guard let value = try transaction.fixedValue(forKey: UInt(extent.number), in: tables.extents) else {
      throw LMDBError(.corrupted, operation: "write records", message: "extent \(extent.number) has no place")
    }
    try value.write(bytes, at: offset - ExtentLayout.headerSize)
  }

  borrowing func withBytes<Result>(
    of extent: ExtentNumber, from offset: Int, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    guard let value = try transaction.value(forKey: UInt(extent.number), in: tables.extents) else { return nil }
    return try body(value.extracting(offset - ExtentLayout.headerSize..<value.byteCount))
  }

  mutating func addExtent(_ number: ExtentNumber) throws(LMDBError) {
    let zeros = [UInt8](repeating: 0, count: tables.limits.layout.capacity)
    _ = try transaction.put(zeros.rawSpan, forKey: UInt(number.number), in: tables.extents)
  }

  mutating func removeExtent(_ number: ExtentNumber) throws(LMDBError) {
    _ = try transaction.removeValue(forKey: UInt(number.number), in: tables.extents)
  }

  mutating func putSeparate(_ bytes: RawSpan, _ number: SeparateNumber) throws(LMDBError) {
    _ = try transaction.put(bytes, forKey: UInt(ExtentRow.Key(number).number), in: tables.extents)
  }

  mutating func removeSeparate(_ number: SeparateNumber) throws(LMDBError) {
    _ = try transaction.removeValue(forKey: UInt(ExtentRow.Key(number).number), in: tables.extents)
  }

  borrowing func withBytes<Result>(
    ofSeparate number: SeparateNumber, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    guard let value = try transaction.value(forKey: UInt(ExtentRow.Key(number).number), in: tables.extents) else {
      return nil
    }
    return try body(value)
  }

  mutating func putRow(_ row: [UInt8]?, under key: ExtentRow.Key) throws(LMDBError) {
    if let row {
      _ = try transaction.put(row.rawSpan, forKey: UInt(key.number), in: tables.rows)
    } else {
      _ = try transaction.removeValue(forKey: UInt(key.number), in: tables.rows)
    }
  }

  mutating func putLogRow(_ row: [UInt8]) throws(LMDBError) {
    try transaction.put(row, forKey: FileTables.logKey, in: tables.meta)
  }

  borrowing func pageUsage() throws(LMDBError) -> PageUsage {
    let extents = try transaction.statistics(of: tables.extents)
    let values = extents.pageCount - (try extentCount()) * tables.limits.pagesPerExtent
    return PageUsage(
      index: try transaction.statistics(of: tables.index).pageCount,
      others: try 2 + values + transaction.statistics(of: tables.rows).pageCount
        + transaction.statistics(of: tables.meta).pageCount
        + transaction.statistics(of: tables.environment.freeList).pageCount)
  }

  private borrowing func extentCount() throws(LMDBError) -> Int {
    var cursor = try transaction.cursor(in: tables.extents)
    var count = 0
    var isAtValue = try cursor.moveToFirst()
    while isAtValue, let key = cursor.key, key < UInt(ExtentNumber.limit) {
      count += 1
      isAtValue = try cursor.moveToNext()
    }
    return count
  }

  // MARK: GenerationRows

  borrowing func counts(of generation: Generation) throws(LMDBError) -> GenerationCounts? {
    try transaction.counts(of: generation, in: tables.meta)
  }

  mutating func putCounts(_ counts: GenerationCounts, of generation: Generation) throws(LMDBError) {
    try transaction.put(counts.value, forKey: MetaTable.live(generation), in: tables.meta)
  }

  mutating func putName(_ number: PartitionNumber, of generation: Generation) throws(LMDBError) {
    try transaction.put(MetaTable.value(generation), forKey: FileTables.name(number), in: tables.meta)
  }

  mutating func endGeneration(_ generation: Generation, named number: PartitionNumber?) throws(LMDBError) {
    _ = try transaction.remove(MetaTable.dead(generation), in: tables.meta)
    if let number { _ = try transaction.remove(FileTables.name(number), in: tables.meta) }
  }
}
