import CisternCore
import LMDB

// A new dense file with the records of another file of any layout, in the order of their ages.

extension DiskFile {
  /// The records that a new file does not have.
  struct Omissions {
    /// The number of damaged records.
    var damaged = 0
    /// The number of sound records that have no room.
    var withoutRoom = 0
  }

  /// Writes the store's own rows and the newest records that fit into a new dense file.
  ///
  /// - Parameters:
  ///   - directory: The directory of the new file.
  ///   - options: The options of its environment. Its map limits the new file.
  ///   - largestRecord: The limit on the size of a record with its key.
  ///   - extents: The layout of its extents. Nil for the one that follows from the size of the map.
  ///   - finish: Uses the new file, which is then closed.
  /// - Returns: The numbers of records that readers of this file see, and that the new file does not have.
  /// - Throws: `LMDBError` if a file cannot be read or written, and the error of `finish`. ``causes(_:)`` tells whether
  ///   this file is the reason.
  func rewrite(
    into directory: String, options: EnvironmentOptions, largestRecord: Int, extents: ExtentLayout? = nil,
    _ finish: (DiskFile) throws(LMDBError) -> Void
  ) throws(LMDBError) -> Omissions {
    let extents = extents ?? ExtentLayout(mapSize: options.mapSize, pageSize: DiskLimits.pageSize)
    let new = try DiskFile.open(directory: directory, options: options, layout: .dense(extents))
    var omissions = Omissions()
    do throws(LMDBError) {
      // The records that follow are counted again.
      try copyRows(to: new.meta, of: new.environment, counts: [:])
      let records = try asSource { () throws(LMDBError) -> CopiedRecords in
        try CopiedRecords(of: self, mapSize: options.mapSize, extents: extents, largestRecord: largestRecord)
      }
      omissions.damaged = try copy(records, to: new)
      omissions.withoutRoom = records.total - omissions.damaged - (try new.recordCount)
      try finish(new)
    } catch {
      // The first error is the cause.
      try? new.close()
      throw error
    }
    try new.close()
    return omissions
  }

  /// The number of records in a dense file.
  private var recordCount: Int {
    get throws(LMDBError) {
      guard let index = layout.index else { return 0 }
      return try environment.withRead { (transaction) throws(LMDBError) in try transaction.itemCount(in: index) }
    }
  }

  /// The number of transactions in a row that may neither put a record nor make room.
  private static let mostEmptySteps = 64
  /// The number of records in a row that may be left out before a full map ends the rewrite.
  private static let mostOmissions = 16
  /// The number of transactions that may make room for one record.
  private static let mostStepsForRecord = 5_000

  /// Copies the records, and returns the number of damaged ones.
  private func copy(_ records: CopiedRecords, to new: DiskFile) throws(LMDBError) -> Int {
    var damagedCount = 0
    var position = 0
    var (emptySteps, steps, omissions) = (0, 0, 0)
    var extents: ExtentState?
    while position < records.count {
      let drafts = try drafts(of: records, from: position)
      damagedCount += drafts.lazy.filter { $0.draft == nil }.count
      let end = position + drafts.count
      var next = position
      while next < end {
        let former = next
        let progress = extents?.reclaimProgress
        do throws(LMDBError) {
          next = try new.put(drafts[(next - position)...], &extents) + former
        } catch {
          guard error.code == .mapFull, omissions < DiskFile.mostOmissions else { throw error }
          try new.freeSpace(&extents)
        }
        steps = next == former ? steps + 1 : 0
        emptySteps = next == former && extents?.reclaimProgress == progress ? emptySteps + 1 : 0
        // A record that still does not fit is left out.
        if emptySteps > DiskFile.mostEmptySteps || steps > DiskFile.mostStepsForRecord {
          (next, emptySteps, steps) = (next + 1, 0, 0)
          omissions += 1
        } else if next > former {
          omissions = 0
        }
      }
      position = end
    }
    try new.endReclaim(&extents)
    return damagedCount
  }

  /// Ends a reclaim in progress. An extent whose records are evicted in part would leave records that are older than
  /// evicted ones.
  private func endReclaim(_ extents: inout ExtentState?) throws(LMDBError) {
    for _ in 0..<DiskFile.mostEmptySteps {
      let isDone = try withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
        let isDone = try step.records.endReclaim(in: &transaction)
        try step.finish(in: &transaction)
        return isDone
      }
      if isDone { break }
    }
  }

  /// The approximate number of bytes that are in memory at once.
  private static let rewrittenAtOnce = 1 << 20

  /// Reads the records from `position` on, up to a number of bytes. The draft of a damaged record is nil.
  private func drafts(
    of records: CopiedRecords, from position: Int
  ) throws(LMDBError) -> [(generation: Generation, draft: RecordDraft?)] {
    try readAsSource { (transaction) throws(LMDBError) in
      var drafts: [(generation: Generation, draft: RecordDraft?)] = []
      var bytes = 0
      var next = position
      while next < records.count, bytes < DiskFile.rewrittenAtOnce {
        bytes += records.size(at: next)
        drafts.append(try records.draft(at: next, in: transaction, of: self))
        next += 1
      }
      return drafts
    }
  }

  /// Puts the first of the records in one transaction, and returns their number.
  private func put(
    _ drafts: ArraySlice<(generation: Generation, draft: RecordDraft?)>, _ extents: inout ExtentState?
  ) throws(LMDBError) -> Int {
    try withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      var count = 0
      for (generation, draft) in drafts {
        if let draft {
          guard !step.isFull(budget: .max),
            try step.records.put(draft, of: generation, protected: false, in: &transaction)
          else { break }
        }
        count += 1
      }
      try step.finish(in: &transaction)
      return count
    }
  }

  /// Makes the map less full after LMDB found it full, and lets it reuse the freed pages.
  private func freeSpace(_ extents: inout ExtentState?) throws(LMDBError) {
    do throws(LMDBError) {
      try freeSpace(&extents, copyingLittle: false)
    } catch {
      guard error.code == .mapFull else { throw error }
      for _ in 0..<2 { try commitEmpty(&extents) }
      do throws(LMDBError) {
        try freeSpace(&extents, copyingLittle: true)
      } catch {
        // The pages that the commits free can have room for the next attempt.
        guard error.code == .mapFull else { throw error }
      }
    }
    try commitEmpty(&extents)
  }

  private func freeSpace(_ extents: inout ExtentState?, copyingLittle copiesLittle: Bool) throws(LMDBError) {
    try withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      _ = try step.records.freeSpace(copyingLittle: copiesLittle, in: &transaction)
      try step.advanceTransaction(in: &transaction.transaction)
      try step.finish(in: &transaction)
    }
  }

  private func commitEmpty(_ extents: inout ExtentState?) throws(LMDBError) {
    try withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      try step.advanceTransaction(in: &transaction.transaction)
      try step.finish(in: &transaction)
    }
  }

  /// Releases the extents without records, so that a compacting copy omits them.
  func releaseFreeExtents() throws(LMDBError) {
    var extents: ExtentState?
    try withStep(StepContext(), &extents) { (step, transaction) throws(LMDBError) in
      try step.records.releaseFree(in: &transaction)
      try step.finish(in: &transaction)
    }
  }
}
