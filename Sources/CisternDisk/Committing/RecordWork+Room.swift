import CisternCore
import LMDB

extension RecordWork {
  /// Sets the position in the commit order before which the items are put, in this transaction or in an earlier one.
  mutating func setPosition(_ position: Int) {
    note {
      $0.position = position
    } extents: {
      $0.position = position
    }
  }

  var hasChanges: Bool {
    switch self {
    case .records(let step): step.outcome.hasChanges
    case .extents(let work): work.step.outcome.hasChanges
    }
  }

  /// The approximate number of pages that the changes of records copy.
  var touchedPages: Int {
    switch self {
    case .records(let step): step.outcome.touchedPages
    case .extents(let work): work.step.touched.total
    }
  }

  /// The live records that were evicted to make room.
  var evicted: [EvictedRecord] {
    switch self {
    case .records(let step): step.outcome.evicted
    case .extents(let work): work.step.outcome.evicted
    }
  }

  /// Whether the caller must commit before it puts more records, although its own budget is not used up.
  var shouldCommit: Bool {
    switch self {
    case .records: false
    case .extents(let work): !work.step.hasBudget
    }
  }

  /// Whether the file has too few free numbers for these generations of partitions.
  func lacksNumbers(for generations: some Sequence<Generation>) -> Bool {
    switch self {
    case .records: false
    case .extents(let work): work.step.state.partitionNumbers.areLacking(for: generations)
    }
  }

  /// Evicts the oldest record of a file with an eviction order, or returns nil if no record is left.
  ///
  /// If `keeping` is true and the record is marked as read, it gets a second chance instead.
  mutating func evictOldest(
    keeping: Bool, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> EvictionAttempt? {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.evictOldest(keeping: keeping, in: &transaction)
    } extents: { (_, _) throws(LMDBError) -> EvictionAttempt? in
      preconditionFailure("records in extents have no order of their own")
    }
  }

  /// Calls the closure with the work on extents. The file must have extents.
  private mutating func changeExtents<Result>(
    in transaction: inout IndexTransaction,
    _ body: (inout ExtentStep, inout ExtentTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try change(in: &transaction) { (_, _) throws(LMDBError) -> Result in
      preconditionFailure("the file has no extents")
    } extents: { (step, target) throws(LMDBError) in
      try body(&step, &target)
    }
  }

  /// Makes a file of extents less full after LMDB found the map full, in a transaction that does nothing else.
  ///
  /// Returns false if nothing is left to release.
  mutating func freeSpace(
    copyingLittle copiesLittle: Bool = false, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    try changeExtents(in: &transaction) { (step, target) throws(LMDBError) in
      try step.freeSpace(copyingLittle: copiesLittle, in: &target)
    }
  }

  /// Makes pages in a row free for a large record, in a transaction that does nothing else.
  mutating func clearWindow(
    of count: Int, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> WindowClearing.Progress {
    try changeExtents(in: &transaction) { (step, target) throws(LMDBError) in
      try step.clearWindow(of: count, in: &target)
    }
  }

  /// Continues a reclaim in progress. Returns whether it has ended.
  mutating func endReclaim(in transaction: inout IndexTransaction) throws(LMDBError) -> Bool {
    try changeExtents(in: &transaction) { (step, target) throws(LMDBError) in try step.endReclaim(in: &target) }
  }

  /// Releases all free extents, so that a compacting copy of the file omits them.
  mutating func releaseFree(in transaction: inout IndexTransaction) throws(LMDBError) {
    try changeExtents(in: &transaction) { (step, target) throws(LMDBError) in try step.releaseFree(in: &target) }
  }

  /// Makes room in extents for all records of a batch. Returns whether they have room in this transaction.
  mutating func makeRoom(
    forBatch sizes: [Int], in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    try changeExtents(in: &transaction) { (step, target) throws(LMDBError) in
      try step.makeRoom(forBatch: sizes, in: &target)
    }
  }
}

/// The result of examining the oldest record for eviction.
enum EvictionAttempt {
  /// The record was evicted. The file has about this many more free bytes.
  case dropped(bytes: Int)
  /// The record has a second chance: it was used since it took its place in the order, or the transaction protects
  /// it.
  case secondChance
}
