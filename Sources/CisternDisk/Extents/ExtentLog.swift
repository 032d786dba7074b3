/// The extents of a data file: which are free, which receive records, and how many live bytes each has.
///
/// The type decides and does not access the file. The writer applies its decisions in the transaction in progress, and
/// keeps a copy from the transaction's beginning for the case that the transaction aborts.
struct ExtentLog: Sendable, Equatable {
  let layout: ExtentLayout
  /// The extents by number. Nil for a released extent.
  private(set) var extents: [Extent?] = []
  /// The open extent of each stream.
  private(set) var open: [Extent.Stream: ExtentNumber] = [:]
  /// The greatest age that an extent or a separate record has had.
  private(set) var newestAge = ExtentAge.zero
  /// The number of bytes of all live records in extents.
  private(set) var liveBytes = 0
  /// The number of extents that are not released.
  private(set) var count = 0
  /// The number of free extents, whether or not they can be written yet.
  private(set) var freeCount = 0
  /// The extents as their rows in the file state them.
  private var written: [Extent?] = []
  /// The extents that have another state than their row.
  private var changed: Set<ExtentNumber> = []

  init(layout: ExtentLayout) {
    self.layout = layout
  }

  /// Creates the log of a file. Returns nil if the rows contradict each other, which is a sign of damage.
  ///
  /// - Parameters:
  ///   - row: The row of the log.
  ///   - rows: The rows of all extents that are not released.
  init?(_ row: LogRow, rows: [ExtentNumber: Extent]) {
    layout = row.layout
    newestAge = row.newestAge
    extents = Array(repeating: nil, count: row.extentCount)
    for (number, extent) in rows {
      guard number.number < row.extentCount, extent.isValid(in: layout) else { return nil }
      var extent = extent
      if case .open(let stream) = extent.state {
        guard let state = row.open[stream], state.number == number else { return nil }
        extent.end = state.end
        extent.liveBytes = state.liveBytes
        open[stream] = number
      }
      if case .free = extent.state { freeCount += 1 }
      liveBytes += extent.liveBytes
      extents[Int(number.number)] = extent
    }
    guard open.count == row.open.count else { return nil }
    count = rows.count
    written = extents
  }

  /// The number of bytes that all extents can hold.
  var capacity: Int { count * layout.capacity }

  /// Returns an extent, or nil if the file does not have it.
  subscript(number: ExtentNumber) -> Extent? {
    extents.indices.contains(Int(number.number)) ? extents[Int(number.number)] : nil
  }

  /// The numbers and states of the extents that are not released, in the order of their numbers.
  var all: some Sequence<(number: ExtentNumber, extent: Extent)> {
    extents.enumerated().lazy.compactMap { index, extent in
      extent.map { (ExtentNumber(number: UInt32(index)), $0) }
    }
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
  ///   - age: The age of the extent that a copied record comes from. Nil for a new record.
  ///   - horizon: The transaction in progress.
  mutating func place(
    _ size: Int, in stream: Extent.Stream, from age: ExtentAge? = nil, during horizon: TransactionHorizon
  ) -> RecordAddress? {
    let room = ExtentLayout.room(for: size)
    precondition(size > 0 && size <= layout.largestRecord, "the record is empty or too large for an extent")
    if let number = open[stream], let address = append(room, to: number) { return address }
    guard let number = reusable(for: stream, during: horizon) else { return nil }
    if let full = open[stream] { close(full) }
    let ageOfNew = age ?? newestAge.next()
    newestAge = max(newestAge, ageOfNew)
    extents[Int(number.number)] = Extent(state: .open(stream), age: ageOfNew)
    changed.insert(number)
    open[stream] = number
    freeCount -= 1
    return append(room, to: number)
  }

  /// Returns whether a record of a stream has a place in this transaction.
  func hasRoom(for size: Int, in stream: Extent.Stream, during horizon: TransactionHorizon) -> Bool {
    if let number = open[stream], let extent = self[number],
      extent.end + ExtentLayout.room(for: size) <= layout.size
    {
      return true
    }
    return reusable(for: stream, during: horizon) != nil
  }

  /// Subtracts a record that is no longer live. An address outside of the file's extents has no effect.
  mutating func remove(_ size: Int, at address: RecordAddress) {
    guard case .inExtent(let number, _)? = address.place(in: layout), var extent = self[number] else { return }
    let removed = min(ExtentLayout.room(for: size), extent.liveBytes)
    extent.liveBytes -= removed
    liveBytes -= removed
    extents[Int(number.number)] = extent
  }

  private mutating func append(_ room: Int, to number: ExtentNumber) -> RecordAddress? {
    guard var extent = self[number], extent.end + room <= layout.size else { return nil }
    let address = RecordAddress(number, offset: extent.end, in: layout)
    extent.end += room
    extent.liveBytes += room
    liveBytes += room
    extents[Int(number.number)] = extent
    return address
  }

  /// Returns the free extent that was emptied first, if this transaction may write to it.
  private func reusable(for stream: Extent.Stream, during horizon: TransactionHorizon) -> ExtentNumber? {
    var found: (number: ExtentNumber, emptiedBy: TransactionNumber)?
    var count = 0
    for (number, extent) in all {
      guard case .free(let emptiedBy) = extent.state, horizon.allowsReuse(of: emptiedBy) else { continue }
      count += 1
      if found.map({ emptiedBy < $0.emptiedBy }) ?? true { found = (number, emptiedBy) }
    }
    // Copies need the last extent: without it, no extent could be emptied without eviction.
    let kept = stream == .writes && self.count > 2 ? 1 : 0
    return count > kept ? found?.number : nil
  }

  // MARK: Ages

  /// Returns an age above those of all extents and separate records.
  mutating func nextAge() -> ExtentAge {
    newestAge = newestAge.next()
    return newestAge
  }

  // MARK: Extents

  /// The free extent that later transactions wait for least: the one that was emptied last.
  var newestFree: ExtentNumber? {
    var found: (number: ExtentNumber, emptiedBy: TransactionNumber)?
    for (number, extent) in all {
      guard case .free(let emptiedBy) = extent.state else { continue }
      if found.map({ $0.emptiedBy <= emptiedBy }) ?? true { found = (number, emptiedBy) }
    }
    return found?.number
  }

  /// Adds an extent to the file. Later transactions can write to it.
  mutating func add(in transaction: TransactionNumber) -> ExtentNumber {
    extents.append(Extent(state: .free(emptiedBy: transaction)))
    count += 1
    freeCount += 1
    let number = ExtentNumber(number: UInt32(extents.count - 1))
    changed.insert(number)
    return number
  }

  /// Releases a free extent, whose pages then serve other tables. Its number is not used again.
  mutating func release(_ number: ExtentNumber) {
    guard case .free? = self[number]?.state else { preconditionFailure("only a free extent can be released") }
    extents[Int(number.number)] = nil
    changed.insert(number)
    count -= 1
    freeCount -= 1
  }

  /// Closes the open extent of a stream, so that it can be reclaimed.
  mutating func closeOpen(_ stream: Extent.Stream) {
    guard let number = open.removeValue(forKey: stream) else { return }
    close(number)
  }

  /// Marks an extent as free after all of its records were removed or copied.
  mutating func empty(_ number: ExtentNumber, in transaction: TransactionNumber) {
    guard let extent = self[number], extent.isClosed else { preconditionFailure("only a closed extent can be emptied") }
    liveBytes -= extent.liveBytes
    extents[Int(number.number)] = Extent(state: .free(emptiedBy: transaction))
    changed.insert(number)
    freeCount += 1
  }

  private mutating func close(_ number: ExtentNumber) {
    extents[Int(number.number)]?.state = .closed
    changed.insert(number)
  }

  // MARK: Rows

  /// Returns the extents whose rows must be written, in the order of their numbers, and notes that they are. A released
  /// extent is nil: its row must be removed.
  ///
  /// - Parameter withLiveBytes: Whether to return also the extents of which only the live bytes differ from the row.
  mutating func takeChangedRows(withLiveBytes: Bool) -> [(number: ExtentNumber, extent: Extent?)] {
    if written.count < extents.count {
      written += Array(repeating: nil, count: extents.count - written.count)
    }
    let numbers =
      withLiveBytes
      ? extents.indices.filter { extents[$0] != written[$0] } : changed.map { Int($0.number) }.sorted()
    changed = []
    return numbers.map { index in
      written[index] = extents[index]
      return (ExtentNumber(number: UInt32(index)), extents[index])
    }
  }
}
