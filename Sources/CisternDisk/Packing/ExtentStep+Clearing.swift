import CisternCore
import LMDB

// Pages in a row for a large record.

extension ExtentStep {
  /// Empties a window of pages in a row, and releases the pages.
  ///
  /// The method continues a clearing in progress. Otherwise it chooses the window that costs least. The transaction
  /// must not have put a large record, because the window is chosen among the pages of the last commit.
  ///
  /// - Parameters:
  ///   - count: The number of pages in a row.
  ///   - target: The transaction.
  /// - Returns: The progress.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func clearWindow(
    of count: Int, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> WindowClearing.Progress {
    if let clearing = state.clearing, clearing.window.count < count { state.clearing = nil }
    if state.clearing == nil, let occupied = try occupiedPages(forWindowOf: count, in: target) {
      state.clearing = occupied.cheapestWindow(of: count).map { WindowClearing($0, of: occupied) }
      // The others have moved.
      state.experience.treePagesInWindow.formIntersection(occupied.treePages(in: 0..<occupied.pageCount))
    }
    guard let clearing = state.clearing else { return .impossible }
    try useLowPages(below: clearing.window, in: &target)
    let extents = clearing.lowExtents + clearing.extents
    guard appended.isDisjoint(with: extents) else { return .unfinished }
    closeOpen(of: extents)
    try releaseFree(of: clearing.lowExtents, in: &target)
    guard try empty(clearing, in: &target), try makeRoom(beside: clearing, in: &target) else { return .unfinished }
    let occupied = try occupiedPages(forWindowOf: clearing.window.count, in: target)
    // A transaction that changes leaves of the index uses many pages, and could use those of the window.
    let isReady = touched.total == 0 && occupied?.treePages(in: clearing.window).isEmpty ?? true
    if !isReady, state.clearing?.beginPreparation() == true {
      if let occupied { try moveTrees(outOf: clearing.window, of: occupied, in: &target) }
      // The commit brings the pages that were freed before closer to their use.
      outcome.hasChanges = true
      return .unfinished
    }
    try releaseFree(of: clearing.extents, in: &target)
    state.clearing = nil
    state.experience.clearedPages = count
    return .finished
  }

  /// Closes the open ones of the extents. Otherwise, they would receive further records and copies.
  private mutating func closeOpen(of extents: [ExtentNumber]) {
    for (stream, number) in state.log.open where extents.contains(number) { state.log.closeOpen(stream) }
  }

  /// Empties the extents and separate records of a window. Returns whether this has ended.
  ///
  /// Records in extents are copied if the file has dead bytes elsewhere. Otherwise they have second chances, as far as
  /// their copies have room.
  private mutating func empty(
    _ clearing: WindowClearing, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    for number in clearing.separates where state.separates.records[number] != nil {
      guard hasBudget else { return false }
      try evictSeparate(number, keepsUsed: false, in: &target)
    }
    for number in clearing.lowExtents {
      guard try empty(number, in: &target) else { return false }
      try releaseFree(of: clearing.lowExtents, in: &target)
    }
    for number in clearing.extents {
      guard try empty(number, in: &target) else { return false }
    }
    return true
  }

  /// Releases the free ones of the extents. Otherwise, they would receive further records and copies.
  private mutating func releaseFree(
    of extents: [ExtentNumber], in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    for number in extents where state.log[number]?.isFree == true { try release(number, in: &target) }
  }

  /// Empties an extent of a clearing. Returns whether this has ended.
  private mutating func empty(
    _ number: ExtentNumber, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    while let extent = state.log[number], !extent.isFree {
      if state.reclaim == nil { state.reclaim = nextReclaim(of: number, extent) }
      guard hasBudget, try reclaim(context.limits.reclaimedBytes, in: &target) else { return false }
    }
    return true
  }

  /// Makes room for the record if the pages of the window are not enough. Returns whether this has ended.
  ///
  /// The window is still held. The commits of evictions after its release would use its pages.
  private mutating func makeRoom(
    beside clearing: WindowClearing, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    while true {
      let kept = state.log.count - clearing.extents.count { state.log[$0] != nil }
      let room = try context.limits.room(beside: pageUsage(in: target)) - kept * context.limits.pagesPerExtent
      if room >= clearing.window.count { return true }
      guard hasBudget else { return false }
      if state.log.availableCount > 1, let free = state.log.newestFree(except: clearing.extents) {
        try release(free, in: &target)
      } else if try !reclaim(context.limits.reclaimedBytes, in: &target) {
        // Without a further victim, or beside a reader, the rest of the room is made after the release.
        return !state.log.hasPending(during: horizon)
      }
    }
  }

  /// Makes LMDB use pages below the window for the trees.
  private mutating func useLowPages(
    below window: Range<Int>, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    // Added extents have taken many pages of the lists.
    guard state.log.addedCount == 0, let lists = try target.committedPageUses(of: [])?.freeLists else { return }
    // The pages that the transaction has used come from the same lists.
    let count = LowPages.countToRead(below: window, in: lists, during: horizon) - touched.total
    if count > 0 { try target.readFreeLists(withPages: count) }
  }

  /// Returns the reclaim of an extent in the window, or of another extent that must be cleaned first.
  ///
  /// The held extents give no room for copies.
  private func nextReclaim(of number: ExtentNumber, _ extent: Extent) -> Reclaim {
    let (log, policy) = (state.log, ReclaimPolicy(meanRecordSize: state.experience.meanRecordSize))
    let canCopy =
      log.hasRoom(for: layout.largestRecord, in: .copies, during: horizon) || log.hasPending(during: horizon)
    guard canCopy, policy.gainsByCleaning(in: log) else {
      return Reclaim(ReclaimPolicy.Choice(number: number, method: .evict), age: extent.age)
    }
    if log.availableCount < ReclaimPolicy.reserve,
      let other = policy.choose(in: log, canCopy: true, except: appended.union(log.held)), other.method == .clean,
      let age = log[other.number]?.age
    {
      return Reclaim(other, age: age)
    }
    return Reclaim(ReclaimPolicy.Choice(number: number, method: .clean), age: extent.age)
  }

  /// Makes LMDB move the pages of its trees that are in the window, as far as the transaction may.
  private mutating func moveTrees(
    outOf window: Range<Int>, of occupied: OccupiedPages, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    let contents = occupied.contents(of: window)
    state.experience.treePagesInWindow.formUnion(occupied.treePages(in: window))
    for case .items(let digest, let generation) in contents {
      guard hasBudget else { return }
      // No record has the address zero, so the item is damaged. A search for its record removes it.
      guard let found = try target.move(toFirstFrom: digest, of: generation), found.address.bits != 0 else { continue }
      try target.replaceCurrent(with: found.address)
      touched.note(found.digest, of: generation)
    }
    // Most of the other pages have rows. Nearly each commit moves the rest.
    if contents.contains(.other) { try rewriteRows(outOf: window, in: &target) }
  }

  /// Writes the rows as they are, so that LMDB moves their pages.
  private mutating func rewriteRows(
    outOf window: Range<Int>, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    for entry in state.log.table.entries {
      guard let written = entry.written else { continue }
      let key = ExtentRow.Key(entry.number)
      try target.putRow(ExtentRow.extent(written).bytes(under: key), under: key)
    }
    for (number, record) in state.separates.records {
      let key = ExtentRow.Key(number)
      try target.putRow(ExtentRow.separate(record).bytes(under: key), under: key)
    }
    if try mayHaveRenewals(in: target) { try target.moveRenewals(outOf: window) }
  }
}
