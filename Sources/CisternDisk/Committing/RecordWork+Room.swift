import CisternCore
import LMDB

extension RecordWork {
  /// Evicts the oldest record of a file with an eviction order.
  ///
  /// If `givesSecondChances` is true and the record is marked as read, it gets a second chance instead.
  mutating func evictOldest(
    givingSecondChances givesSecondChances: Bool, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> OldestRecordEviction {
    try change(in: &transaction) { (step, transaction) throws(LMDBError) in
      try step.evictOldest(givingSecondChances: givesSecondChances, in: &transaction)
    } dense: { (_, _) throws(LMDBError) -> OldestRecordEviction in
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
    } dense: { (step, target) throws(LMDBError) in
      try body(&step, &target)
    }
  }

  /// Makes a dense file less full after LMDB found the map full, in a transaction that does nothing else.
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
