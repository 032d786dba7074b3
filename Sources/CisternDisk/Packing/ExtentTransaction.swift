import CisternCore
import LMDB

/// A write transaction of LMDB on a dense file.
struct ExtentTransaction: ExtentTarget, ~Copyable, ~Escapable {
  /// The transaction, for the store's own rows and other tables.
  private(set) var indexed: IndexTransaction
  let tables: DenseTables

  @_lifetime(copy transaction)
  init(_ transaction: consuming WriteTransaction, _ tables: DenseTables) {
    indexed = IndexTransaction(transaction, index: tables.index)
    self.tables = tables
  }

  @_lifetime(copy indexed)
  init(_ indexed: consuming IndexTransaction, _ tables: DenseTables) {
    self.indexed = indexed
    self.tables = tables
  }

  /// Returns the transaction for its end.
  @_lifetime(copy self)
  consuming func end() -> WriteTransaction { indexed.end() }

  /// Returns the transaction with its position.
  @_lifetime(copy self)
  consuming func endIndexed() -> IndexTransaction { indexed }

  /// Returns the numbers by which the transaction knows which extents it can use again.
  borrowing func horizon() throws(LMDBError) -> TransactionHorizon {
    TransactionHorizon(
      current: indexed.transaction.transactionNumber,
      oldestSnapshot: try indexed.transaction.oldestSnapshot().map { TransactionNumber(number: $0) })
  }
}

extension ExtentTransaction {
  // MARK: RecordIndex

  mutating func move(toFirstFrom digest: RecordDigest, of generation: Generation) throws(LMDBError) -> LocatedDigest? {
    _ = try indexed.move(toFirstFrom: digest.bits, forKey: IndexKey(generation.number))
    return current
  }

  mutating func moveToNext() throws(LMDBError) -> LocatedDigest? {
    _ = try indexed.moveToNext()
    return current
  }

  private var current: LocatedDigest? {
    indexed.item.flatMap { item in
      RecordAddress(bits: item.address).map { LocatedDigest(digest: RecordDigest(lowBits: item.digest), address: $0) }
    }
  }

  mutating func replaceCurrent(with address: RecordAddress) throws(LMDBError) {
    try indexed.replaceAddress(with: address.bits)
  }

  mutating func removeCurrent() throws(LMDBError) { try indexed.removeCurrent() }

  mutating func insert(_ item: LocatedDigest, of generation: Generation) throws(LMDBError) {
    try indexed.insert(
      IndexItem(digest: item.digest.bits, address: item.address.bits), forKey: IndexKey(generation.number))
  }

  // MARK: ExtentValues

  mutating func write(_ bytes: RawSpan, at offset: Int, in extent: ExtentNumber) throws(LMDBError) {
    let (key, place) = (UInt(extent.number), offset - ExtentLayout.headerSize)
    if let value = try indexed.transaction.fixedValue(forKey: key, in: tables.extents),
      value.place.byteCount >= place + bytes.byteCount
    {
      return try value.write(bytes, at: place)
    }
    // An extent that this transaction has added. LMDB writes it at the commit.
    guard try indexed.transaction.write(bytes, at: place, ofNewValueForKey: key, in: tables.extents) else {
      throw LMDBError(.corrupted, operation: "write records", message: "extent \(extent.number) has no place for them")
    }
  }

  borrowing func withBytes<Result>(
    of extent: ExtentNumber, from offset: Int, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    guard let value = try indexed.transaction.value(forKey: UInt(extent.number), in: tables.extents),
      offset >= ExtentLayout.headerSize, offset - ExtentLayout.headerSize <= value.byteCount
    else { return nil }
    return try body(value.extracting(offset - ExtentLayout.headerSize..<value.byteCount))
  }

  // MARK: ExtentTables

  mutating func addExtent(_ number: ExtentNumber) throws(LMDBError) {
    let zeros = [UInt8](repeating: 0, count: tables.limits.layout.capacity)
    try indexed.transaction.put(zeros.rawSpan, forKey: UInt(number.number), in: tables.extents)
  }

  mutating func removeExtent(_ number: ExtentNumber) throws(LMDBError) {
    try indexed.transaction.removeValue(forKey: UInt(number.number), in: tables.extents)
  }

  mutating func putSeparate(_ bytes: RawSpan, _ number: SeparateNumber) throws(LMDBError) {
    try indexed.transaction.put(bytes, forKey: UInt(ExtentRow.Key(number).number), in: tables.extents)
  }

  mutating func removeSeparate(_ number: SeparateNumber) throws(LMDBError) {
    try indexed.transaction.removeValue(forKey: UInt(ExtentRow.Key(number).number), in: tables.extents)
  }

  borrowing func withBytes<Result>(
    ofSeparate number: SeparateNumber, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    let key = UInt(ExtentRow.Key(number).number)
    guard let value = try indexed.transaction.value(forKey: key, in: tables.extents) else { return nil }
    return try body(value)
  }

  mutating func readFreeLists(withPages count: Int) throws(LMDBError) {
    // LMDB reads a list if it needs a page. A transaction that removes its own new value gets the page back at once.
    let value = [UInt8](repeating: 0, count: tables.limits.pageSize * 3 / 4)
    let keys = UInt.max - UInt(count)...UInt.max
    for key in keys { try indexed.transaction.put(value.rawSpan, forKey: key, in: tables.extents) }
    for key in keys { try indexed.transaction.removeValue(forKey: key, in: tables.extents) }
  }

  mutating func putRow(_ row: [UInt8]?, under key: ExtentRow.Key) throws(LMDBError) {
    if let row {
      try indexed.transaction.put(row.rawSpan, forKey: UInt(key.number), in: tables.rows)
    } else {
      try indexed.transaction.removeValue(forKey: UInt(key.number), in: tables.rows)
    }
  }

  mutating func putLogRow(_ row: [UInt8]) throws(LMDBError) {
    try indexed.transaction.put(row, forKey: MetaTable.log, in: tables.meta)
  }

  borrowing func committedPageCount() throws(LMDBError) -> Int { try indexed.transaction.committedPageCount() }

  borrowing func tablePages() throws(LMDBError) -> TablePages {
    let index = try indexed.transaction.statistics(of: tables.index)
    var pages = TablePages()
    pages.index = index.pageCount
    pages.itemCount = index.entryCount
    pages.values = try indexed.transaction.statistics(of: tables.extents).pageCount
    // The two meta pages.
    pages.others = 2
    pages.others += try indexed.transaction.statistics(of: tables.rows).pageCount
    pages.others += try indexed.transaction.statistics(of: tables.meta).pageCount
    pages.others += try indexed.transaction.statistics(of: .main).pageCount
    pages.others += try indexed.transaction.statistics(of: .freeList).pageCount
    return pages
  }

  borrowing func committedPage(of key: ExtentRow.Key) throws(LMDBError) -> Int? {
    try indexed.transaction.place(ofValueForKey: UInt(key.number), in: tables.extents).map { Int($0.page) }
  }

  borrowing func committedPageUses(of generations: [Generation]) throws(LMDBError) -> PageUses? {
    indexed.transaction.committedPageUses(of: generations.map { IndexKey($0.number) }, in: tables.index)
  }

  borrowing func committedItemPages(of generation: Generation) throws(LMDBError) -> Int? {
    indexed.transaction.committedPageCount(forKey: IndexKey(generation.number), in: tables.index)
  }

  // MARK: GenerationRows

  borrowing func counts(of generation: Generation) throws(LMDBError) -> GenerationCounts? {
    try indexed.transaction.counts(of: generation, in: tables.meta)
  }

  mutating func putCounts(_ counts: GenerationCounts, of generation: Generation) throws(LMDBError) {
    try indexed.transaction.put(counts.value, forKey: MetaTable.live(generation), in: tables.meta)
  }

  mutating func putPartitionNumber(_ number: PartitionNumber, of generation: Generation) throws(LMDBError) {
    try indexed.transaction.put(
      MetaTable.value(generation), forKey: MetaTable.partitionNumber(number), in: tables.meta)
  }

  mutating func endGeneration(_ generation: Generation, named number: PartitionNumber?) throws(LMDBError) {
    _ = try indexed.transaction.remove(MetaTable.dead(generation), in: tables.meta)
    if let number { _ = try indexed.transaction.remove(MetaTable.partitionNumber(number), in: tables.meta) }
  }

  // MARK: RenewalRows

  borrowing func hasRenewals() throws(LMDBError) -> Bool { try indexed.transaction.hasRenewals(in: tables.meta) }

  borrowing func renewal(at address: RecordAddress) throws(LMDBError) -> RecordRenewal? {
    try indexed.transaction.renewal(ofRecordAt: .address(address), in: tables.meta)
  }

  mutating func put(_ renewal: RecordRenewal?, at address: RecordAddress) throws(LMDBError) {
    try indexed.transaction.put(renewal, ofRecordAt: .address(address), in: tables.meta)
  }

  mutating func moveRenewals(outOf window: Range<Int>) throws(LMDBError) {
    for row in try indexed.transaction.firstRenewalRows(ofPagesIn: window, of: tables.meta) {
      _ = try indexed.transaction.put(row.row.rawSpan, forKey: row.key.rawSpan, in: tables.meta)
    }
  }
}
