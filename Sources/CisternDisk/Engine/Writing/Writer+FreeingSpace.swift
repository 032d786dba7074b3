import CisternCore
import LMDB

// Room in a dense file: after LMDB found the map full, and while no extent can be written.

extension Writer {
  /// The number of transactions in a row without progress that are normal: an extent can be written two commits after
  /// it was emptied.
  static let normalStalls = 3
  /// The number of transactions that make room for one item or batch before the oldest extents are evicted, although
  /// others have dead bytes.
  private static let mostEmptySteps = 500
  /// The number of extents that are evicted then.
  private static let forcedEvictions = 8

  /// Waits for the reader because of which no extent can be written. Without such a reader, evicts extents, and at last
  /// makes room as after a full map.
  func endStall(of commit: inout CommitState, in file: DiskFile, budget: inout Int) throws(LMDBError) {
    let isStalled = commit.attempts.stalls >= Writer.normalStalls
    guard isStalled || commit.attempts.emptySteps > Writer.mostEmptySteps else { return }
    if lacksPartitionNumber(commit), try freePartitionNumbers(for: &commit) { return }
    if isStalled, try waitForReaders(of: file, laggingMoreThan: 0) { return commit.attempts.endStall() }
    switch commit.attempts.escalate() {
    case 1:
      // The reader may have ended a moment ago.
      _ = try commitTwice(in: file)
    case 2: extents?.experience.forcedEvictions = Writer.forcedEvictions
    default:
      try makeSpace(
        &commit, in: file, budget: &budget,
        LMDBError(.mapFull, operation: "commit", message: "no extent can be written"))
    }
  }

  /// Releases up to this number of extents, or evicts a few records for each, and lets LMDB reuse their pages.
  ///
  /// Returns false if nothing is left to release.
  func freeSpace(_ file: DiskFile, times: Int, during commit: inout CommitState) throws(LMDBError) -> Bool {
    var hasRecords = true
    var passes = 0
    var copiesLittle = false
    var count = 0
    while count < times, hasRecords {
      do throws(LMDBError) {
        hasRecords = try makeRoom(in: file, during: &commit) { (step, transaction) throws(LMDBError) in
          let hasFreed = try step.records.freeSpace(copyingLittle: copiesLittle, in: &transaction)
          // The commit counts even if it evicts nothing. It brings the extents that were emptied before closer to
          // reuse.
          try step.advanceTransaction(in: &transaction.transaction)
          return hasFreed
        }
        count += 1
      } catch {
        guard isAboutRoom(error) else { throw error }
        guard copiesLittle else {
          copiesLittle = true
          continue
        }
        // Even this copies some pages.
        try freeForReuse(in: file, passes: &passes, after: error)
      }
    }
    _ = try commitTwice(in: file)
    return hasRecords
  }
}
