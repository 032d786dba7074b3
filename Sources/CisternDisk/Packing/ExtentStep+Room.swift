import LMDB

extension ExtentStep {
  /// Makes room for a record. Returns whether the record has room in this transaction.
  ///
  /// An emptied extent can be written two commits later, so this transaction makes room for later ones.
  mutating func makeRoom(
    for size: Int, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    if hasBatchRoom { return true }
    if size > layout.largestRecord { return try makePages(forSeparate: size, in: &target) }
    endClearing()
    try keepReserve(in: &target)
    while !state.log.hasRoom(for: size, in: .writes, during: horizon) {
      // A reader can keep the extents of the reserve from being written.
      guard !state.log.hasPending(during: horizon), state.log.addedCount < ReclaimPolicy.reserve,
        try room(in: target) == .now
      else { return false }
      try grow(in: &target)
    }
    return true
  }

  /// Makes room for all records of a batch. Returns whether they have room in this transaction.
  ///
  /// The caller puts the batch only if they have. Otherwise it commits and tries again.
  mutating func makeRoom(
    forBatch sizes: [Int], in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    // The next transaction has the room of this one, and can use freed pages, only if this one counts.
    outcome.hasChanges = true
    let small = sizes.filter { $0 <= layout.largestRecord }
    let pages = sizes.reduce(0) { $0 + ($1 > layout.largestRecord ? context.limits.pages(ofSeparate: $1) : 0) }
    if pages > 0 {
      guard try makePages(pages, in: &target) else { return false }
    } else {
      endClearing()
    }
    let extents = small.reduce(0) { $0 + ExtentLayout.room(for: $1) } / (layout.capacity - layout.largestRecord) + 1
    while !hasExtents(for: small), state.log.freeCount < extents + ReclaimPolicy.reserve, hasBudget {
      // An added extent must leave the pages of the separate records.
      let available = try room(leaving: pages, in: target)
      if available == .afterCommits { break }
      if available == .now {
        try grow(in: &target)
      } else {
        guard try reclaim(context.limits.reclaimedBytes, in: &target) else { break }
      }
    }
    hasBatchRoom = hasExtents(for: small)
    return hasBatchRoom
  }

  /// Notes that all records of a batch are put. Later records need further room.
  mutating func endBatch() { hasBatchRoom = false }

  private func hasExtents(for sizes: [Int]) -> Bool {
    state.log.hasRoom(for: sizes, in: .writes, during: horizon)
  }

  /// Adds or reclaims extents until the reserve is free, as far as the transaction may.
  ///
  /// A file that can still grow by many extents needs no reserve. It adds an extent when records need one, and LMDB
  /// writes both together.
  private mutating func keepReserve(
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    let policy = ReclaimPolicy(meanRecordSize: state.experience.meanRecordSize)
    guard policy.isNeeded(in: state.log), try !determineGrowthAtEnd(in: target) else { return }
    if try shrink(in: &target) { return }
    switch try room(in: target) {
    case .now: return try grow(in: &target)
    // A further eviction would make no page usable earlier.
    case .afterCommits: return
    case .none: break
    }
    if hasBudget { _ = try reclaim(context.limits.reclaimedBytes, in: &target) }
  }

  /// The time at which the file can grow by an extent.
  private enum ExtentRoom {
    case now
    /// LMDB can use the pages that were just freed, but only after further commits.
    case afterCommits
    case none
  }

  /// Returns when the file has room for more extents, and for pages of further separate records.
  private func room(
    forExtents count: Int = 1, leaving pages: Int = 0,
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> ExtentRoom {
    let log = state.log
    guard log.givenCount + count <= Int(ExtentNumber.limit) else { return .none }
    let usage = try pageUsage(in: target)
    // The ceiling holds only near the full map: large separate records can have left the file.
    let isBelowCeiling = log.count + count <= state.experience.ceiling.extents
    let reserved = pages + (isBelowCeiling ? 0 : context.limits.pageCount / 8)
    guard context.limits.allows(log.count + count, beside: usage, andSeparate: reserved) else { return .none }
    return context.limits.allows(log.count + count, beside: usage, andSeparate: reserved + unusablePages)
      ? .now : .afterCommits
  }

  /// Determines once in the transaction whether the file can still grow by many extents at its end.
  ///
  /// At the end, LMDB always finds pages in a row.
  private mutating func determineGrowthAtEnd(
    in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    if let known = canGrowAtEnd { return known }
    // More than the reserve and the extents that this transaction can add.
    let count = 3 * ReclaimPolicy.reserve
    var result = context.limits.allows(count, behind: try target.committedPageCount())
    if result { result = try room(forExtents: count, in: target) == .now }
    canGrowAtEnd = result
    return result
  }

  /// Adds an extent, for which the file has room.
  private mutating func grow(in target: inout some ExtentTarget & ~Copyable & ~Escapable) throws(LMDBError) {
    try target.addExtent(state.log.add())
    outcome.hasChanges = true
  }

  /// Releases a free extent if the index has grown into the room of the extents. Returns whether it did.
  private mutating func shrink(
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    guard state.log.freeCount > 1, let free = state.log.newestFree,
      context.limits.isOver(state.log.count, beside: try pageUsage(in: target))
    else { return false }
    try release(free, in: &target)
    return true
  }

  /// Releases a free extent. The file never uses its number again.
  mutating func release(
    _ number: ExtentNumber, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    state.log.release(number)
    freedPages += context.limits.pagesPerExtent
    try target.removeExtent(number)
    outcome.hasChanges = true
  }

  /// Makes the map less full after LMDB found it full, in a transaction that does nothing else.
  ///
  /// Near the full map, the file does not grow again until the ceiling is raised. Returns false if nothing is left to
  /// release.
  ///
  /// - Parameters:
  ///   - copiesLittle: Whether a larger transaction found the map full, too.
  ///   - target: The file.
  /// - Returns: Whether the map is less full.
  /// - Throws: `LMDBError` if LMDB fails.
  mutating func freeSpace(
    copyingLittle copiesLittle: Bool = false, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    guard let free = state.log.newestFree else {
      return try reclaim(copiesLittle ? context.limits.pageSize : layout.size, in: &target)
    }
    try release(free, in: &target)
    state.experience.ceiling.lower(to: max(state.log.count, 3))
    return true
  }

  /// Continues a reclaim in progress. Returns whether it has ended.
  mutating func endReclaim(in target: inout some ExtentTarget & ~Copyable & ~Escapable) throws(LMDBError) -> Bool {
    if state.reclaim != nil { _ = try reclaim(.max, in: &target) }
    outcome.hasChanges = true
    return state.reclaim == nil
  }

  /// Releases all free extents, so that a compacting copy of the file omits them.
  mutating func releaseFree(in target: inout some ExtentTarget & ~Copyable & ~Escapable) throws(LMDBError) {
    while let free = state.log.newestFree { try release(free, in: &target) }
  }

  /// Ends a clearing in progress for an earlier record, so that its extents are not held any more.
  private mutating func endClearing() {
    if state.clearing != nil { state.clearing = nil }
  }

  private mutating func makePages(
    forSeparate size: Int, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    try makePages(context.limits.pages(ofSeparate: size), in: &target)
  }

  /// The number of freed pages that LMDB cannot use in this transaction.
  private var unusablePages: Int { freedPages + state.experience.freedPages.count(during: horizon) }

  /// Evicts and releases until the file has room for pages of separate records. Returns whether it has.
  private mutating func makePages(
    _ pages: Int, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    // An extent has enough pages in a row for a smaller record.
    let needsWindow = pages > context.limits.pagesPerExtent
    if !needsWindow { endClearing() }
    // The evictions of a clearing can make enough room, but its extents must not stay held.
    if needsWindow, state.clearing != nil, appendedSeparates.isEmpty {
      if case .unfinished = try clearWindow(of: pages, in: &target) { return false }
    }
    while true {
      let taken = state.log.count * context.limits.pagesPerExtent
      let room = try context.limits.room(beside: pageUsage(in: target)) - taken
      if room - unusablePages >= pages { return true }
      // The pages that were freed for this can be used after further commits.
      guard room < pages, hasBudget else { return false }
      if needsWindow, state.experience.clearedPages < pages {
        // The window is chosen among the pages of the last commit.
        guard appendedSeparates.isEmpty else { return false }
        switch try clearWindow(of: pages, in: &target) {
        case .unfinished: return false
        case .finished: continue
        case .impossible: break
        }
      }
      if state.log.freeCount > 1, let free = state.log.newestFree {
        try release(free, in: &target)
      } else if try !reclaim(context.limits.reclaimedBytes, in: &target) {
        return false
      }
    }
  }
}
