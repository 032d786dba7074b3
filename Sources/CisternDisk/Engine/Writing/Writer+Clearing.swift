import CisternCore
import LMDB

// Pages in a row for a large record of a dense file, after LMDB found none.

extension Writer {
  /// The number of attempts for one item or batch that only clear pages. Then each fourth attempt evicts by age.
  private static let mostClearings = 12
  /// The number of transactions of one clearing. Each evicts a part of the window, or waits for a commit.
  private static let mostSteps = 1000

  /// Clears pages in a row if the next item or batch needs more of them than an extent has. Returns whether it did.
  func clearPages(
    for tables: DenseTables, in file: DiskFile, during commit: inout CommitState
  ) throws(LMDBError) -> Bool {
    let (limits, attempts) = (tables.limits, commit.attempts.fullMaps)
    guard commit.position < commit.group.count, attempts <= Writer.mostClearings || attempts % 4 != 0 else {
      return false
    }
    let pages = commit.group.separatePages(of: commit.group.unit(from: commit.position), limits: limits)
    guard pages > limits.pagesPerExtent else { return false }
    var stalls = 0
    for _ in 0..<Writer.mostSteps {
      let former = extents?.reclaimProgress
      switch try clearSome(pages, in: file, during: &commit) {
      case .finished: return try commitTwice(in: file)
      case .impossible: return false
      case .unfinished:
        stalls = extents?.reclaimProgress == former ? stalls + 1 : 0
        guard stalls > Writer.normalStalls else { continue }
        // Copies can wait for the reader of the extents that would receive them.
        guard try waitForReaders(of: file, laggingMoreThan: 0) else { return false }
        stalls = 0
      }
    }
    return false
  }

  /// Continues the clearing in one transaction. The clearing is impossible if the map has no room for that transaction.
  private func clearSome(
    _ pages: Int, in file: DiskFile, during commit: inout CommitState
  ) throws(LMDBError) -> WindowClearing.Progress {
    do throws(LMDBError) {
      return try makeRoom(in: file, during: &commit) { (step, transaction) throws(LMDBError) in
        let progress = try step.records.clearWindow(of: pages, in: &transaction)
        // The commit counts even if it evicts nothing.
        try step.advanceTransaction(in: &transaction.transaction)
        return progress
      }
    } catch {
      guard isAboutRoom(error) else { throw error }
      return .impossible
    }
  }
}
