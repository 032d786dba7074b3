import CisternCore
import LMDB

extension Writer {
  /// Makes room after the map or the device was found full, so that the caller can try the transaction again.
  ///
  /// The method evicts records in small transactions, and more of them with each call. If an item does not fit
  /// although all other records are gone, the method gives up that item.
  ///
  /// - Throws: `error` if it cannot make room.
  func relieve(
    _ commit: inout Committing, in file: DiskFile, budget: inout Int, _ error: LMDBError
  ) throws(LMDBError) {
    commit.reliefs += 1
    if error.code == .noSpace {
      ceiling = try file.environment.information().pageCount
      if commit.reliefs > 3 { throw error }
    }
    if commit.reliefs > 64 { throw error }
    try waitForReaders(of: file)
    budget = max(1, budget / 2)
    // If the map is full, the first call only lets two commits pass. LMDB can then reuse the pages that the last
    // commits freed, and readers may have ended.
    if commit.reliefs == 1, error.code == .mapFull, try pass(in: file) { return }
    extraMargin = min(extraMargin + engine.limits.pagesPerTransaction / 2, engine.limits.pageCount / 4)
    let pages = engine.limits.pagesPerTransaction * min(commit.reliefs, 8)
    let hasRecords = try evict(
      bytes: pages * DiskLimits.pageSize, sparing: commit.reliefs <= 3, in: file, during: &commit)
    if !hasRecords, commit.reliefs > 4 {
      guard commit.position < commit.round.count else { throw error }
      commit.skip(
        CisternError(.tooLarge, "the record does not fit, although all others were evicted", location: engine.directory)
      )
      commit.reliefs = 0
    }
  }

  /// Evicts about this many bytes, in at least three transactions, because LMDB reuses a page two commits after it
  /// was freed.
  ///
  /// Returns false if no record is left.
  private func evict(
    bytes: Int, sparing: Bool, in file: DiskFile, during commit: inout Committing
  ) throws(LMDBError) -> Bool {
    var sparing = sparing
    var freed = 0
    var rounds = 0
    var atOnce = 16
    var hasRecords = true
    while rounds < 3 || (freed < bytes && hasRecords) {
      rounds += 1
      do {
        let (dropped, isEmpty) = try evictSome(atOnce, sparing: sparing, in: file, during: &commit)
        freed += dropped
        hasRecords = !isEmpty
      } catch {
        guard error.code == .mapFull || error.code == .noSpace, atOnce > 1 else { throw error }
        atOnce = 1
        sparing = false
      }
      // If all records are marked as read, the first pass clears the marks, and the second pass evicts.
      if rounds > 10_000 { break }
    }
    return hasRecords
  }

  /// Evicts at most `count` records in one transaction. Returns the freed bytes, and whether no record is left.
  private func evictSome(
    _ count: Int, sparing: Bool, in file: DiskFile, during commit: inout Committing
  ) throws(LMDBError) -> (dropped: Int, isEmpty: Bool) {
    var leaving: [Leaving] = []
    let eras = engine.invalidationEras
    do throws(LMDBError) {
      let (dropped, isEmpty, evicted) = try chore(in: file) {
        (step, transaction) throws(LMDBError) -> (Int, Bool, [EvictedRecord]) in
        var dropped = 0
        var isEmpty = false
        for _ in 0..<count where !isEmpty {
          switch try step.evictOldest(sparing: sparing, in: &transaction) {
          case .dropped(let bytes)?: dropped += bytes
          case .spared?: continue
          case nil:
            // The change makes the commit count, which brings the pages that were freed before closer to reuse.
            try step.tick(in: &transaction)
            isEmpty = true
          }
        }
        leaving = commit.leaving(
          step.outcome.evicted, among: engine.partitions, since: eras, putBefore: commit.position)
        for key in leaving { key.note() }
        return (dropped, isEmpty, step.outcome.evicted)
      }
      commit.note(evicted, leaving: leaving, among: engine.partitions)
      return (dropped, isEmpty)
    } catch {
      for key in leaving { key.withdraw() }
      throw error
    }
  }

  /// Commits two empty changes. Returns false if the map has no room even for these.
  private func pass(in file: DiskFile) throws(LMDBError) -> Bool {
    do {
      for _ in 0..<2 {
        try chore(in: file) { (step, transaction) throws(LMDBError) in try step.tick(in: &transaction) }
      }
      return true
    } catch {
      if error.code == .mapFull { return false }
      throw error
    }
  }
}

extension WriteStep {
  /// Rewrites a row with the same value, so that LMDB counts the commit.
  mutating func tick(in transaction: inout WriteTransaction) throws(LMDBError) {
    try transaction.put(MetaTable.value(MetaTable.formatVersion), forKey: MetaTable.format, in: file.meta)
    outcome.hasChanges = true
  }
}
