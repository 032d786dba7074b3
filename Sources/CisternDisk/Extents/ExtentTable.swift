/// The extents of a data file by their numbers, with the changes of the transaction in progress.
///
/// The table stores only extents that the file has: the numbers of released ones cost nothing. It stores the former
/// contents of changed extents, so that an abort restores these and copies nothing else.
struct ExtentTable: Sendable, Equatable {
  /// An extent and its row in the file.
  struct Entry: Sendable, Equatable {
    let number: ExtentNumber
    var extent: Extent
    /// The extent as its row states it. Nil if the file has no row of it.
    var written: Extent?
  }

  /// The entries in the order of their numbers.
  private(set) var entries: [Entry] = []
  /// The former entry of each extent that the transaction has changed; nil for an added extent. Nil outside of a
  /// transaction.
  private var former: [ExtentNumber: Entry?]?

  init() {}

  /// Creates the table of a file, whose rows state these extents. An open extent differs from its row.
  init(_ extents: [ExtentNumber: Extent], rows: [ExtentNumber: Extent]) {
    entries = extents.map { Entry(number: $0.key, extent: $0.value, written: rows[$0.key]) }
    entries.sort { $0.number < $1.number }
  }

  var count: Int { entries.count }

  /// Returns an extent, or nil if the file does not have it. O(log n).
  subscript(number: ExtentNumber) -> Extent? {
    let index = index(of: number)
    return has(number, at: index) ? entries[index].extent : nil
  }

  /// Adds an extent, whose number is greater than those of all others.
  mutating func append(_ extent: Extent, number: ExtentNumber) {
    precondition(entries.last.map { $0.number < number } ?? true, "a number of an extent is used again")
    note(number, nil)
    entries.append(Entry(number: number, extent: extent, written: nil))
  }

  /// Removes an extent. Has no effect if the table does not have it.
  mutating func remove(_ number: ExtentNumber) {
    let index = index(of: number)
    guard has(number, at: index) else { return }
    note(number, entries[index])
    entries.remove(at: index)
  }

  /// Changes an extent. Has no effect if the table does not have it.
  mutating func change(_ number: ExtentNumber, _ body: (inout Extent) -> Void) {
    let index = index(of: number)
    guard has(number, at: index) else { return }
    note(number, entries[index])
    body(&entries[index].extent)
  }

  /// Notes that the row of an extent states its current contents, and returns these. Nil if the table does not have it.
  mutating func noteWritten(_ number: ExtentNumber) -> Extent? {
    let index = index(of: number)
    guard has(number, at: index) else { return nil }
    note(number, entries[index])
    entries[index].written = entries[index].extent
    return entries[index].extent
  }

  // MARK: Transactions

  /// Begins a transaction, whose changes ``abort()`` undoes.
  mutating func begin() { former = [:] }

  mutating func commit() { former = nil }

  /// Restores all extents as they were at the beginning of the transaction.
  mutating func abort() {
    let changes = former ?? [:]
    former = nil
    for (number, entry) in changes {
      let index = index(of: number)
      switch (entry, has(number, at: index)) {
      case (let entry?, true): entries[index] = entry
      case (let entry?, false): entries.insert(entry, at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  private mutating func note(_ number: ExtentNumber, _ entry: Entry?) {
    guard former != nil, former?[number] == nil else { return }
    former?.updateValue(entry, forKey: number)
  }

  // MARK: Search

  /// Returns the position of the first entry whose number is not less.
  private func index(of number: ExtentNumber) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func has(_ number: ExtentNumber, at index: Int) -> Bool {
    index < entries.count && entries[index].number == number
  }
}
