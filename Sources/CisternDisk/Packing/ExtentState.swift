import LMDB

/// The state of a dense file after its last commit, as the writer keeps it between transactions.
///
/// The rows of the file have the same state. A writer reads them if another process has committed since.
struct ExtentState: Sendable {
  var log: ExtentLog
  var separates = SeparateRecords()
  /// The reclaim in progress.
  var reclaim: Reclaim?
  /// The records of the extent that is reclaimed. Nil until they are listed.
  var victim: VictimList?
  /// The clearing of pages in progress. The free extents of its window receive no records.
  var clearing: WindowClearing? {
    didSet { log.hold(clearing?.extents ?? []) }
  }
  var newSeparates = NewSeparates()
  var partitionNumbers = PartitionNumbers()
  var itemPages = ItemPages()
  var experience: WriterExperience
  /// The last commit that the state contains.
  var committed: TransactionNumber

  /// Creates the state of an empty file.
  init(layout: ExtentLayout, committed: TransactionNumber) {
    log = ExtentLog(layout: layout)
    experience = WriterExperience()
    self.committed = committed
  }

  /// The rows of a file, for a writer that reads its state.
  struct Rows {
    var log: [UInt8]
    var extents: [UInt64: [UInt8]] = [:]
    var partitionNumbers: [PartitionNumber: Generation] = [:]

    init(log: [UInt8]) { self.log = log }
  }

  /// Reads the state of a file.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - committed: The last commit, which wrote the row of the log.
  /// - Throws: `LMDBError` with the code `corrupted` if the rows are damaged or contradict each other.
  init(_ rows: Rows, committed: TransactionNumber) throws(LMDBError) {
    guard let row = LogRow(rows.log.rawSpan) else { throw Self.damaged("the row of the log") }
    var extents: [ExtentNumber: Extent] = [:]
    var separates: [SeparateNumber: SeparateRecord] = [:]
    for (number, bytes) in rows.extents {
      guard let key = ExtentRow.Key(number: number), let read = ExtentRow(bytes.rawSpan, under: key, in: row.layout)
      else { throw Self.damaged("the row \(number)") }
      switch (key, read) {
      case (.extent(let number), .extent(let extent)): extents[number] = extent.emptied(notAfter: committed)
      case (.separate(let number), .separate(let record)): separates[number] = record
      default: throw Self.damaged("the row \(number)")
      }
    }
    guard let log = ExtentLog(row, rows: extents) else { throw Self.damaged("the rows of extents") }
    guard let separates = SeparateRecords(separates, next: row.nextSeparate) else {
      throw Self.damaged("the rows of separate records")
    }
    guard let partitionNumbers = PartitionNumbers(rows.partitionNumbers) else {
      throw Self.damaged("the numbers of partitions")
    }
    self.log = log
    experience = WriterExperience()
    self.separates = separates
    self.partitionNumbers = partitionNumbers
    itemPages.noteChanges(of: partitionNumbers.named)
    self.committed = committed
    // The extent of an older reclaim can have another state since, if the row is damaged.
    if let reclaim = row.reclaim, log[reclaim.number]?.isClosed ?? false { self.reclaim = reclaim }
  }

  /// Notes the beginning of a commit group.
  mutating func noteGroup() {
    experience.noteGroup()
    newSeparates.noteGroup()
    // The free extents of the window receive records again.
    clearing = nil
  }

  /// A value that changes if a transaction examines records to make room, or makes room.
  struct ReclaimProgress: Equatable {
    let reclaim: Reclaim?
    let freeCount: Int
    let count: Int
    let separateCount: Int
    /// Second chances of separate records give ages.
    let newestAge: ExtentAge
    /// The number of transactions that have moved trees out of a window.
    let preparations: Int?

    fileprivate init(_ state: ExtentState) {
      reclaim = state.reclaim
      freeCount = state.log.freeCount
      count = state.log.count
      separateCount = state.separates.records.count
      newestAge = state.log.newestAge
      preparations = state.clearing?.preparations
    }
  }

  var reclaimProgress: ReclaimProgress { ReclaimProgress(self) }

  /// Returns whether no other process has committed since.
  func isCurrent(in horizon: TransactionHorizon) -> Bool { committed.number + 1 == horizon.current.number }

  static func damaged(_ part: String) -> LMDBError {
    LMDBError(.corrupted, operation: "read the extents of the file", message: "invalid: \(part)")
  }
}

extension Extent {
  /// Returns the extent as a file has it whose last commit is `committed`.
  ///
  /// A backup numbers its transactions anew. A greater number is from the original, and no snapshot of the backup shows
  /// the former records of the extent.
  fileprivate func emptied(notAfter committed: TransactionNumber) -> Extent {
    guard case .free(let emptiedBy) = state, emptiedBy > committed else { return self }
    var extent = self
    extent.state = .free(emptiedBy: .zero)
    return extent
  }
}
