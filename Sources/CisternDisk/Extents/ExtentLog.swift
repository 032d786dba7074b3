/// The extents of a data file: which are free, which receive records, and how many live bytes each has.
///
/// The type decides and does not access the file. The writer applies its decisions in the transaction in progress. If
/// that aborts, ``abort()`` undoes them.
struct ExtentLog: Sendable, Equatable {
  let layout: ExtentLayout
  /// The extents that are not released.
  var table = ExtentTable()
  /// The facts about all extents together.
  var summary = Summary()
  /// The summary at the beginning of the transaction in progress. Nil outside of a transaction.
  var formerSummary: Summary?

  /// The facts about all extents together. They are small, so a transaction begins with a copy of them.
  struct Summary: Sendable, Equatable {
    /// The number of extents that the file has ever had, with the released ones.
    var givenCount = 0
    /// The open extent of each stream.
    var open: [Extent.Stream: ExtentNumber] = [:]
    /// The greatest age that an extent or a separate record has had.
    var newestAge = ExtentAge.zero
    /// The number of bytes of all live records in extents.
    var liveBytes = 0
    /// The number of free extents, whether or not they can be written yet.
    var freeCount = 0
    /// The extents that receive no records, because their pages will be released together.
    var held: Set<ExtentNumber> = []
    /// The extents that have another state than their row.
    var changed: Set<ExtentNumber> = []
    /// The extents that the transaction in progress has added.
    var added: Set<ExtentNumber> = []
    /// The streams whose open extent has the records of each commit in pages of their own.
    ///
    /// An aborted transaction can leave any bytes after the end of an open extent. In such an extent it leaves them in
    /// other pages, so that zeros follow the last record of a page.
    var paged: Set<Extent.Stream> = []
    /// The streams whose next record begins at a page.
    var unaligned: Set<Extent.Stream> = []
    var pageSize = 1
    var avoidsSharedPages = false
  }

  init(layout: ExtentLayout) {
    self.layout = layout
  }

  /// The number of bytes that all extents can hold.
  var capacity: Int { count * layout.capacity }

  /// The number of extents that are not released.
  var count: Int { table.count }
  /// The number of extents that the file has ever had, with the released ones.
  var givenCount: Int { summary.givenCount }
  /// The open extent of each stream.
  var open: [Extent.Stream: ExtentNumber] { summary.open }
  /// The greatest age that an extent or a separate record has had.
  var newestAge: ExtentAge { summary.newestAge }
  /// The number of bytes of all live records in extents.
  var liveBytes: Int { summary.liveBytes }
  /// The number of free extents, whether or not they can be written yet.
  var freeCount: Int { summary.freeCount }
  /// The extents that receive no records, because their pages will be released together.
  var held: Set<ExtentNumber> { summary.held }
  /// The number of extents that the transaction in progress has added.
  var addedCount: Int { summary.added.count }

  /// Returns an extent, or nil if the file does not have it.
  subscript(number: ExtentNumber) -> Extent? { table[number] }

  /// The numbers and states of the extents that are not released, in the order of their numbers.
  var all: some Sequence<(number: ExtentNumber, extent: Extent)> {
    table.entries.lazy.map { ($0.number, $0.extent) }
  }

  // MARK: Transactions

  /// Begins a transaction, whose decisions ``abort()`` undoes.
  ///
  /// - Parameters:
  ///   - pageSize: The size of a page.
  ///   - avoidsSharedPages: Whether the transaction must not write to a page with committed records. A power cut can
  ///     damage a page that is being written.
  mutating func begin(pageSize: Int = 1, avoidsSharedPages: Bool = false) {
    table.begin()
    formerSummary = summary
    summary.unaligned = summary.paged
    summary.pageSize = pageSize
    summary.avoidsSharedPages = avoidsSharedPages
  }

  /// Keeps the decisions of the transaction.
  mutating func commit() {
    table.commit()
    formerSummary = nil
    summary.added = []
    summary.unaligned = []
    summary.pageSize = 1
    summary.avoidsSharedPages = false
  }

  /// Restores the state from the beginning of the transaction. O(n) for n extents that the transaction has changed.
  mutating func abort() {
    table.abort()
    if let formerSummary { summary = formerSummary }
    formerSummary = nil
  }

  // MARK: Records

  /// Returns the address at which a record of a stream lies, and counts its bytes as live.
  ///
  /// If the open extent has no room, it is closed, and a free extent replaces it. Returns nil if no free extent can be
  /// written in this transaction. A stream of new records leaves one free extent for copies.
  ///
  /// - Parameters:
  ///   - size: The size of the record, at most ``ExtentLayout/largestRecord``.
  ///   - stream: The stream.
  ///   - age: The age of the record: that of the extent from which it is copied. Nil for an age above those of all
  ///     others.
  ///   - horizon: The transaction in progress.
  /// - Returns: The address; nil if no extent has room.
  mutating func place(
    _ size: Int, in stream: Extent.Stream, from age: ExtentAge? = nil, during horizon: TransactionHorizon
  ) -> RecordAddress? {
    let room = ExtentLayout.room(for: size)
    precondition(size > 0 && size <= layout.largestRecord, "the record is empty or too large for an extent")
    if let number = open[stream], let address = append(room, to: number, of: stream) {
      raiseAge(of: number, to: age)
      return address
    }
    guard let number = reusable(for: stream, during: horizon) else { return nil }
    if let full = open[stream] { close(full) }
    let ageOfNew = age ?? newestAge.next()
    summary.newestAge = max(newestAge, ageOfNew)
    table.change(number) { $0 = Extent(state: .open(stream), age: ageOfNew) }
    summary.changed.insert(number)
    summary.unaligned.remove(stream)
    if summary.avoidsSharedPages { summary.paged.insert(stream) } else { summary.paged.remove(stream) }
    summary.open[stream] = number
    summary.freeCount -= 1
    return append(room, to: number, of: stream)
  }

  /// Gives an extent the age of its newest record.
  ///
  /// Small records can take long to fill an extent. With the age of the first of them, the newest would be evicted
  /// before separate records that are older. A copy with a second chance could be evicted before it is read again.
  private mutating func raiseAge(of number: ExtentNumber, to age: ExtentAge?) {
    guard let extent = self[number] else { return }
    let raised = age ?? (extent.age == newestAge ? newestAge : newestAge.next())
    guard raised > extent.age else { return }
    summary.newestAge = max(newestAge, raised)
    table.change(number) { $0.age = raised }
    summary.changed.insert(number)
  }

  /// Returns whether a record of a stream has a place in this transaction.
  func hasRoom(for size: Int, in stream: Extent.Stream, during horizon: TransactionHorizon) -> Bool {
    openRoom(in: stream) >= ExtentLayout.room(for: size) || reusable(for: stream, during: horizon) != nil
  }

  /// Subtracts a record that is no longer live. An address outside of the file's extents has no effect.
  mutating func remove(_ size: Int, at address: RecordAddress) {
    guard case .inExtent(let number, _)? = address.location(in: layout), let extent = self[number] else { return }
    let removed = min(ExtentLayout.room(for: size), extent.liveBytes)
    table.change(number) { $0.liveBytes -= removed }
    summary.liveBytes -= removed
  }

  /// Returns the number of bytes that the open extent of a stream has left.
  func openRoom(in stream: Extent.Stream) -> Int {
    guard let number = open[stream], let extent = self[number], canAppend(to: stream) else { return 0 }
    return max(layout.size - nextOffset(in: extent, of: stream), 0)
  }

  /// Returns whether the open extent of a stream separates the pages of commits, if the transaction must do so.
  private func canAppend(to stream: Extent.Stream) -> Bool {
    !summary.avoidsSharedPages || summary.paged.contains(stream)
  }

  /// Returns the offset of the next record in an open extent.
  private func nextOffset(in extent: Extent, of stream: Extent.Stream) -> Int {
    guard summary.unaligned.contains(stream) else { return extent.end }
    return (extent.end + summary.pageSize - 1) / summary.pageSize * summary.pageSize
  }

  private mutating func append(_ room: Int, to number: ExtentNumber, of stream: Extent.Stream) -> RecordAddress? {
    guard let extent = self[number], canAppend(to: stream) else { return nil }
    let offset = nextOffset(in: extent, of: stream)
    guard offset + room <= layout.size else { return nil }
    summary.unaligned.remove(stream)
    table.change(number) {
      $0.end = offset + room
      $0.liveBytes += room
    }
    summary.liveBytes += room
    return RecordAddress(number, offset: offset, in: layout)
  }

  // MARK: Ages

  /// Returns an age above those of all extents and separate records.
  mutating func nextAge() -> ExtentAge {
    summary.newestAge = newestAge.next()
    return newestAge
  }

  // MARK: Extents

  /// Adds an extent to the file. This transaction and later ones can write to it, also beside old readers: LMDB gives
  /// it pages that no snapshot has.
  mutating func add() -> ExtentNumber {
    let number = ExtentNumber(number: UInt32(givenCount))
    table.append(Extent(state: .free(emptiedBy: .zero)), number: number)
    if formerSummary != nil { summary.added.insert(number) }
    summary.givenCount += 1
    summary.freeCount += 1
    summary.changed.insert(number)
    return number
  }

  /// Releases a free extent, whose pages then serve other tables. Its number is not used again.
  mutating func release(_ number: ExtentNumber) {
    guard case .free? = self[number]?.state else { preconditionFailure("only a free extent can be released") }
    table.remove(number)
    summary.changed.insert(number)
    summary.freeCount -= 1
  }

  /// Keeps extents from receiving records. Those that were held before receive them again.
  mutating func hold(_ extents: [ExtentNumber]) { summary.held = Set(extents) }

  /// Closes the open extent of a stream, so that it can be reclaimed.
  mutating func closeOpen(_ stream: Extent.Stream) {
    guard let number = summary.open.removeValue(forKey: stream) else { return }
    summary.paged.remove(stream)
    close(number)
  }

  /// Marks an extent as free after all of its records were removed or copied.
  mutating func empty(_ number: ExtentNumber, in transaction: TransactionNumber) {
    guard let extent = self[number], extent.isClosed else { preconditionFailure("only a closed extent can be emptied") }
    summary.liveBytes -= extent.liveBytes
    table.change(number) { $0 = Extent(state: .free(emptiedBy: transaction)) }
    summary.changed.insert(number)
    summary.freeCount += 1
  }

  private mutating func close(_ number: ExtentNumber) {
    table.change(number) { $0.state = .closed }
    summary.changed.insert(number)
  }
}
