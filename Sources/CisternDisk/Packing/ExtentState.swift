import LMDB

/// The state of a file of extents after its last commit, as the writer keeps it between transactions.
///
/// The rows of the file have the same state. A writer reads them if another process has committed since.
struct ExtentState: Sendable {
  var log: ExtentLog
  var separates = SeparateRecords()
  /// The reclaim in progress.
  var reclaim: Reclaim?
  /// The records of the extent that is reclaimed. Nil until they are listed.
  var victim: VictimList?
  var names = PartitionNumbers()
  var itemPages = ItemPages()
  /// The pages of extents and separate records that were removed a moment ago.
  var freedPages = FreedPages()
  /// The number of extents above which the file does not grow, since the map or the device was full.
  var ceiling = Int.max
  /// The number of commit groups since the ceiling has changed.
  var groupsAtCeiling = 0
  /// The number of extents that are evicted next, although others have more dead bytes. Cleaning alone has made no room.
  var forcedEvictions = 0
  /// The number of bytes by which evictions have copied less than half of their extents.
  var savedBytes: Int
  /// The number of separate records that can have a second chance before the next eviction.
  ///
  /// Without a bound, large records that were read once would displace all records that were just written.
  var secondChances = Self.mostSecondChances
  private static let mostSecondChances = 8

  /// Returns whether a separate record that was read has a second chance, which is then used up.
  mutating func takeSecondChance() -> Bool {
    guard secondChances > 0 else { return false }
    secondChances -= 1
    return true
  }

  /// Notes the eviction of an extent or of a separate record.
  mutating func noteEviction() { secondChances = min(secondChances + 1, Self.mostSecondChances) }

  /// The mean size of the records in the last reclaimed extent.
  var meanRecordSize = 1024
  /// The last commit that the state contains.
  var committed: TransactionNumber

  /// Creates the state of an empty file.
  init(layout: ExtentLayout, committed: TransactionNumber) {
    log = ExtentLog(layout: layout)
    savedBytes = Reclaim.mostSavedBytes(in: layout)
    self.committed = committed
  }

  /// The rows of a file, for a writer that reads its state.
  struct Rows {
    var log: [UInt8]
    var extents: [UInt64: [UInt8]] = [:]
    var names: [PartitionNumber: Generation] = [:]

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
      case (.extent(let number), .extent(let extent)): extents[number] = extent
      case (.separate(let number), .separate(let record)): separates[number] = record
      default: throw Self.damaged("the row \(number)")
      }
    }
    guard let log = ExtentLog(row, rows: extents) else { throw Self.damaged("the rows of extents") }
    guard let separates = SeparateRecords(separates, next: row.nextSeparate) else {
      throw Self.damaged("the rows of separate records")
    }
    guard let names = PartitionNumbers(rows.names) else { throw Self.damaged("the numbers of partitions") }
    self.log = log
    savedBytes = Reclaim.mostSavedBytes(in: row.layout)
    self.separates = separates
    self.names = names
    itemPages.noteChanges(of: names.named)
    self.committed = committed
    // The extent of an older reclaim can have another state since, if the row is damaged.
    if let reclaim = row.reclaim, log[reclaim.number]?.isClosed ?? false { self.reclaim = reclaim }
  }

  /// The number of commit groups after which the ceiling rises by an eighth.
  ///
  /// The map can be full again then. This costs a few small transactions.
  static let groupsBelowCeiling = 16

  /// Notes the beginning of a commit group.
  mutating func noteGroup() {
    forcedEvictions = 0
    guard ceiling < .max else { return }
    groupsAtCeiling += 1
    guard groupsAtCeiling >= Self.groupsBelowCeiling else { return }
    groupsAtCeiling = 0
    ceiling += max(ceiling / 8, 1)
  }

  /// A value that changes if a transaction examines records to make room, or makes room.
  struct ReclaimProgress: Equatable {
    let reclaim: Reclaim?
    let freeCount: Int
    let count: Int
    let separateCount: Int
    /// Second chances of separate records give ages.
    let newestAge: ExtentAge
  }

  var reclaimProgress: ReclaimProgress {
    ReclaimProgress(
      reclaim: reclaim, freeCount: log.freeCount, count: log.count, separateCount: separates.records.count,
      newestAge: log.newestAge)
  }

  /// Returns whether no other process has committed since.
  func isCurrent(in horizon: TransactionHorizon) -> Bool { committed.number + 1 == horizon.current.number }

  static func damaged(_ part: String) -> LMDBError {
    LMDBError(.corrupted, operation: "read the extents of the file", message: "invalid: \(part)")
  }
}
