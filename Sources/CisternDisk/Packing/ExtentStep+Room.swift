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
    try keepReserve(in: &target)
    if state.log.hasRoom(for: size, in: .writes, during: horizon) { return true }
    // A reader can keep the free extents, although the file has room for others.
    if !state.log.hasPending(during: horizon) { _ = try grow(in: &target) }
    return false
  }

  /// Makes room for all records of a batch. Returns whether they have room in this transaction.
  ///
  /// The caller puts the batch only if they have. Otherwise it commits and tries again.
  mutating func makeRoom(
    forBatch sizes: [Int], in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    let small = sizes.filter { $0 <= layout.largestRecord }
    let pages = sizes.reduce(0) { $0 + ($1 > layout.largestRecord ? context.limits.pages(ofSeparate: $1) : 0) }
    if pages > 0 {
      guard try makePages(pages, in: &target) else { return false }
    }
    let extents = small.reduce(0) { $0 + ExtentLayout.room(for: $1) } / (layout.capacity - layout.largestRecord) + 1
    while !hasExtents(for: small), hasBudget {
      // A reader can keep free extents, although the file has room for others.
      let free = state.log.freeCount
      if free - state.log.heldCount(during: horizon) < extents + ReclaimPolicy.reserve {
        // An added extent must leave the pages of the separate records.
        if try grow(leaving: pages, in: &target) { continue }
      }
      guard free < extents + ReclaimPolicy.reserve, try reclaim(context.limits.reclaimedBytes, in: &target) else {
        break
      }
    }
    // The next transaction has the room of this one only if this one counts.
    outcome.hasChanges = true
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
    let policy = ReclaimPolicy(meanRecordSize: state.meanRecordSize)
    guard policy.isNeeded(in: state.log) else { return }
    if try shrink(in: &target) { return }
    if try grow(in: &target) { return }
    if hasBudget { _ = try reclaim(context.limits.reclaimedBytes, in: &target) }
  }

  /// Adds an extent if the file has room for it and for pages of further separate records. Later transactions can write to it.
  private mutating func grow(
    leaving pages: Int = 0, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    let log = state.log
    guard log.count < state.ceiling, log.givenCount < Int(ExtentNumber.limit),
      context.limits.allows(log.count + 1, beside: try pageUsage(in: target), andSeparate: pages)
    else { return false }
    try target.addExtent(state.log.add())
    outcome.hasChanges = true
    return true
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
    try target.removeExtent(number)
    outcome.hasChanges = true
  }

  /// Makes the map less full after LMDB found it full, in a transaction that does nothing else.
  ///
  /// The file does not grow again until ``ExtentState/ceiling`` is raised. Returns false if nothing is left to release.
  mutating func relieve(
    in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    guard let free = state.log.newestFree else {
      return try reclaim(context.limits.pageSize, in: &target)
    }
    try release(free, in: &target)
    state.ceiling = max(state.log.count, 3)
    state.groupsAtCeiling = 0
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

  /// Evicts and releases until the file has room for pages of separate records. Returns whether it has.
  private mutating func makePages(
    _ pages: Int, in target: inout some ExtentTarget & ~Copyable & ~Escapable
  ) throws(LMDBError) -> Bool {
    while true {
      let taken = state.log.count * context.limits.pagesPerExtent
      if try context.limits.room(beside: pageUsage(in: target)) - taken >= pages { return true }
      guard hasBudget else { return false }
      if state.log.freeCount > 1, let free = state.log.newestFree {
        try release(free, in: &target)
      } else if try !reclaim(context.limits.reclaimedBytes, in: &target) {
        return false
      }
    }
  }
}
