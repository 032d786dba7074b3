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
    if state.clearing != nil { state.clearing = nil }
    try keepReserve(in: &target)
    if state.log.hasRoom(for: size, in: .writes, during: horizon) { return true }
    // A reader can keep the extents of the reserve from being written.
    if !state.log.hasPending(during: horizon), try roomForExtent(in: target) == .now { try grow(in: &target) }
    return false
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
    }
    let extents = small.reduce(0) { $0 + ExtentLayout.room(for: $1) } / (layout.capacity - layout.largestRecord) + 1
    while !hasExtents(for: small), state.log.freeCount < extents + ReclaimPolicy.reserve, hasBudget {
      // An added extent must leave the pages of the separate records.
      let room = try roomForExtent(leaving: pages, in: target)
      if room == .afterCommits { break }
      if room == .now {
        try grow(in: &target)
      } else {
        guard try reclaim(context.limits.reclaimedBytes, in: &target) else { break }
      }
    }
    hasBatchRoom = hasExtents(for: small)
    return hasBatchRoom
  }

  private func hasExtents(for sizes: [Int]) -> Bool {
    state.log.hasRoom(for: sizes, in: .writes, during: horizon)
  }

  /// Adds or reclaims extents until the reserve is free, as far as the transaction may.
  private mutating func keepReserve(
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) {
    let policy = ReclaimPolicy(meanRecordSize: state.experience.meanRecordSize)
    guard policy.isNeeded(in: state.log) else { return }
    if try shrink(in: &target) { return }
    switch try roomForExtent(in: target) {
    case .now: return try grow(in: &target)
    // A further eviction would be in vain.
    case .afterCommits: return
    case .none: break
    }
    if hasBudget { _ = try reclaim(context.limits.reclaimedBytes, in: &target) }
  }

  /// The time at which the file can grow by an extent.
  private enum ExtentRoom {
    case now
    /// LMDB can use pages that were freed a moment ago after further commits.
    case afterCommits
    case none
  }

  /// Returns when the file has room for another extent, and for pages of further separate records.
  private func roomForExtent(
    leaving pages: Int = 0, in target: borrowing some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> ExtentRoom {
    let log = state.log
    guard log.givenCount < Int(ExtentNumber.limit) else { return .none }
    let usage = try pageUsage(in: target)
    // The ceiling holds only near the full map: large separate records can have left the file.
    let reserved = pages + (log.count < state.experience.ceiling.extents ? 0 : context.limits.pageCount / 8)
    guard context.limits.allows(log.count + 1, beside: usage, andSeparate: reserved) else { return .none }
    return context.limits.allows(log.count + 1, beside: usage, andSeparate: reserved + unusablePages)
      ? .now : .afterCommits
  }

  /// Adds an extent, for which the file has room. Later transactions can write to it.
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
  mutating func relieve(
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
    while true {
      let taken = state.log.count * context.limits.pagesPerExtent
      let room = try context.limits.room(beside: pageUsage(in: target)) - taken
      if room - unusablePages >= pages { return true }
      // The pages that were freed for this can be used after further commits.
      guard room < pages, hasBudget else { return false }
      // An extent has enough pages in a row for a smaller record.
      if pages > context.limits.pagesPerExtent, state.experience.clearedPages < pages {
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
