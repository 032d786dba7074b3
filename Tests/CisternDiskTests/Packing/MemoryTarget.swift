import LMDB

@testable import CisternDisk

/// A dense file in memory. An abort restores its tables, but not the bytes of its extents, like LMDB.
struct MemoryTarget: ExtentTarget {
  /// The part of the file that is transactional.
  struct Tables: Equatable {
    var index: [Generation: [LocatedDigest]] = [:]
    var extents: Set<ExtentNumber> = []
    var separates: [SeparateNumber: [UInt8]] = [:]
    var rows: [UInt64: [UInt8]] = [:]
    var logRow: [UInt8] = []
    var counts: [Generation: GenerationCounts] = [:]
    var partitionNumbers: [PartitionNumber: Generation] = [:]
    var dead: Set<Generation> = []
    var renewals: [RecordAddress: RecordRenewal] = [:]
    /// The places of extents and separate records. Nil if their values need no pages in a row.
    var places: PagePlaces?

    /// Returns the extent or value that contains an address.
    func has(_ address: RecordAddress, in layout: ExtentLayout) -> Bool {
      switch address.location(in: layout) {
      case .inExtent(let number, _)?: extents.contains(number)
      case .separate(let number)?: separates[SeparateNumber(number: number)] != nil
      case nil: false
      }
    }
  }

  let limits: ExtentLimits
  private(set) var committed = Tables()
  var tables = Tables()
  var values: ByteExtents
  /// The number of the last commit.
  private(set) var number = TransactionNumber.zero
  /// The number of changes until one fails; nil for none.
  var changesUntilFailure: Int?
  /// The extents that commits have added.
  private(set) var given: Set<ExtentNumber> = []
  private(set) var violations: [String] = []
  /// The number of pages of the file. It never decreases, like that of a file of LMDB.
  private var pageCount = 0
  private var isChanged = false
  private var position: (generation: Generation, index: Int, isRemoved: Bool)?

  init(limits: ExtentLimits) {
    self.limits = limits
    values = ByteExtents(layout: limits.layout)
  }

  mutating func commit() {
    // LMDB does not count a transaction without changes.
    guard isChanged || tables != committed else { return }
    isChanged = false
    let added = tables.extents.subtracting(committed.extents)
    if !added.isDisjoint(with: given) { violations.append("a number of an extent is used again") }
    given.formUnion(added)
    if usedPages > limits.pageCount { violations.append("the file has \(usedPages) pages") }
    pageCount = max(pageCount, usedPages, tables.places?.end ?? 0)
    committed = tables
    number = TransactionNumber(number: number.number + 1)
    changesUntilFailure = nil
    position = nil
  }

  mutating func abort() {
    tables = committed
    isChanged = false
    changesUntilFailure = nil
    position = nil
  }

  var usedPages: Int {
    let pages = tablePages()
    let items = tables.index.keys.reduce(0) { $0 + itemPages(of: $1, in: tables) }
    return pages.index + items + pages.values + pages.others
  }

  /// Fails if it is time, or if the file has become larger than the map.
  private mutating func change() throws(LMDBError) {
    isChanged = true
    if usedPages > limits.pageCount { throw LMDBError(.mapFull, operation: "change", message: "the map is full") }
    guard let left = changesUntilFailure else { return }
    if left == 0 { throw LMDBError(.ioError, operation: "change", message: "the disk failed") }
    changesUntilFailure = left - 1
  }

  // MARK: RecordIndex

  mutating func move(toFirstFrom digest: RecordDigest, of generation: Generation) throws(LMDBError) -> LocatedDigest? {
    position = (generation, lowerBound(digest, of: generation), false)
    return currentItem
  }

  /// The transaction in progress.
  private var current: TransactionNumber { TransactionNumber(number: number.number + 1) }

  private var currentItem: LocatedDigest? {
    guard let position, let items = tables.index[position.generation] else { return nil }
    return position.index < items.count ? items[position.index] : nil
  }

  mutating func moveToNext() throws(LMDBError) -> LocatedDigest? {
    if position?.isRemoved == false { position?.index += 1 }
    position?.isRemoved = false
    return currentItem
  }

  mutating func replaceCurrent(with address: RecordAddress) throws(LMDBError) {
    try change()
    guard let position, let item = currentItem else { return violations.append("no item is at the position") }
    tables.index[position.generation]?[position.index] = LocatedDigest(digest: item.digest, address: address)
  }

  mutating func removeCurrent() throws(LMDBError) {
    try change()
    guard let place = position, currentItem != nil else { return violations.append("no item is at the position") }
    tables.index[place.generation]?.remove(at: place.index)
    position?.isRemoved = true
  }

  mutating func insert(_ item: LocatedDigest, of generation: Generation) throws(LMDBError) {
    try change()
    tables.index[generation, default: []].insert(item, at: lowerBound(item.digest, of: generation))
    position = nil
  }

  private func lowerBound(_ digest: RecordDigest, of generation: Generation) -> Int {
    guard let items = tables.index[generation] else { return 0 }
    var (low, high) = (0, items.count)
    while low < high {
      let middle = (low + high) / 2
      if items[middle].digest < digest { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: ExtentValues and ExtentTables

  mutating func write(_ bytes: RawSpan, at offset: Int, in extent: ExtentNumber) throws(LMDBError) {
    if changesUntilFailure == 0 { values.writesUntilFailure = 0 }
    defer { values.writesUntilFailure = nil }
    if !tables.extents.contains(extent) {
      violations.append("a record is written to an extent that the file does not have")
    }
    try values.write(bytes, at: offset, in: extent)
    try change()
  }

  func withBytes<Result>(
    of extent: ExtentNumber, from offset: Int, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    guard tables.extents.contains(extent) else { return nil }
    return try values.withBytes(of: extent, from: offset, body)
  }

  mutating func addExtent(_ number: ExtentNumber) throws(LMDBError) {
    let current = current
    try tables.places?.add(ExtentRow.Key(number), limits.pagesPerExtent, during: current)
    tables.extents.insert(number)
    values.add(number)
    try change()
  }

  mutating func removeExtent(_ number: ExtentNumber) throws(LMDBError) {
    try change()
    let current = current
    tables.places?.remove(ExtentRow.Key(number), during: current)
    if tables.extents.remove(number) == nil { violations.append("an extent is removed twice") }
    if !committed.extents.contains(number) {
      violations.append("an extent is removed in the transaction that added it")
    }
  }

  mutating func putSeparate(_ bytes: RawSpan, _ number: SeparateNumber) throws(LMDBError) {
    let pages = limits.pages(ofSeparate: bytes.byteCount)
    let current = current
    try tables.places?.add(ExtentRow.Key(number), pages, during: current)
    tables.separates[number] = bytes.copiedBytes()
    try change()
  }

  mutating func removeSeparate(_ number: SeparateNumber) throws(LMDBError) {
    try change()
    let current = current
    tables.places?.remove(ExtentRow.Key(number), during: current)
    if tables.separates.removeValue(forKey: number) == nil { violations.append("a separate record is removed twice") }
  }

  func withBytes<Result>(
    ofSeparate number: SeparateNumber, _ body: (RawSpan) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result? {
    guard let bytes = tables.separates[number] else { return nil }
    return try body(bytes.rawSpan)
  }

  mutating func putRow(_ row: [UInt8]?, under key: ExtentRow.Key) throws(LMDBError) {
    try change()
    tables.rows[key.number] = row
  }

  mutating func putLogRow(_ row: [UInt8]) throws(LMDBError) {
    try change()
    tables.logRow = row
  }

  func readFreeLists(withPages count: Int) {}

  func committedPageCount() -> Int { pageCount }

  func tablePages() -> TablePages {
    var pages = TablePages()
    pages.index = 1
    pages.itemCount = tables.index.values.reduce(0) { $0 + $1.count }
    pages.values = tables.extents.count * limits.pagesPerExtent
    pages.values += tables.separates.values.reduce(0) { $0 + limits.pages(ofSeparate: $1.count) }
    pages.others = 4
    return pages
  }

  func committedPage(of key: ExtentRow.Key) -> Int? {
    committed.places?.occupied[key].flatMap { tables.places?.occupied[key] == $0 ? $0.lowerBound : nil }
  }

  func committedPageUses(of generations: [Generation]) -> PageUses? { committed.places?.uses }

  func committedItemPages(of generation: Generation) -> Int? { itemPages(of: generation, in: committed) }

  private func itemPages(of generation: Generation, in tables: Tables) -> Int {
    // Leaves that were filled in random order are two thirds full.
    (tables.index[generation]?.count ?? 0) * LocatedDigest.size * 3 / (2 * limits.pageSize)
  }

  // MARK: GenerationRows

  func counts(of generation: Generation) throws(LMDBError) -> GenerationCounts? { tables.counts[generation] }

  mutating func putCounts(_ counts: GenerationCounts, of generation: Generation) throws(LMDBError) {
    try change()
    tables.counts[generation] = counts
  }

  mutating func putPartitionNumber(_ number: PartitionNumber, of generation: Generation) throws(LMDBError) {
    try change()
    if tables.partitionNumbers[number] != nil { violations.append("a number names two generations") }
    tables.partitionNumbers[number] = generation
  }

  mutating func endGeneration(_ generation: Generation, named number: PartitionNumber?) throws(LMDBError) {
    try change()
    if let number { tables.partitionNumbers[number] = nil }
    tables.dead.remove(generation)
    if tables.index[generation]?.isEmpty == false { violations.append("a purge leaves items") }
    tables.index[generation] = nil
  }

  // MARK: RenewalRows

  func hasRenewals() -> Bool { !tables.renewals.isEmpty }

  func renewal(at address: RecordAddress) -> RecordRenewal? { tables.renewals[address] }

  mutating func put(_ renewal: RecordRenewal?, at address: RecordAddress) throws(LMDBError) {
    try change()
    tables.renewals[address] = renewal
  }

  mutating func moveRenewals(outOf window: Range<Int>) throws(LMDBError) { try change() }

  /// The rows from which a writer reads its state.
  var rows: ExtentState.Rows {
    var rows = ExtentState.Rows(log: tables.logRow)
    rows.extents = tables.rows
    rows.partitionNumbers = tables.partitionNumbers
    return rows
  }
}
