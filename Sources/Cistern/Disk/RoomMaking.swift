import LMDB

/// Evicts for what is about to be written, by a debt in bytes: between the low watermark and the high one, more and more of
/// each new byte is repaid.
///
/// Bytes and not pages, because a page that loses a record keeps its place: records leave in the order of their age, and
/// lie in the order of their keys, so that pages only thin out. What is written next fills them.
struct RoomMaking {
  private let writer: Writer
  private let low: Int
  private let high: Int
  private let mostSpared: Int
  /// The pages that may be in use, or copied, at once: all but those that the last transactions have freed.
  private let mostPages: Int
  private var debt = 0
  /// What is still to be evicted for the next batch; zero once its room is made, nil once it is put.
  private(set) var batchDebt: Int?
  /// Records that had a second turn.
  private(set) var spared = 0

  init(writer: Writer, commit: Committing) {
    self.writer = writer
    let limits = writer.engine.limits
    // On a full device the file's present size is as good as the map's.
    let missing = limits.pageCount - min(limits.pageCount, writer.ceiling ?? limits.pageCount)
    low = max(8, limits.lowWatermark - writer.extraMargin - missing)
    high = low + limits.pagesPerTransaction
    mostPages = low + limits.margin / 2
    batchDebt = commit.debt
    mostSpared = max(0, writer.engine.counters.records.load(ordering: .relaxed) + 64 - commit.spared)
  }

  /// Evicts until the debt for the record is repaid; false where the transaction has touched its share before that.
  mutating func make(
    for draft: RecordDraft, _ step: inout WriteStep, budget: Int, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    debt += try share(of: draft.footprint, pages: draft.pages, step, in: transaction)
    return try repay(&step, budget: budget, in: &transaction)
  }

  /// As for one record, for all of a batch at once, before any of it is put. What is not repaid is carried over.
  ///
  /// A large batch needs more than its own pages: the transaction copies each page that it puts something into. So
  /// records are evicted until the map has room for both.
  mutating func make(
    forBatch size: (footprint: Int, pages: Int), count: Int, _ step: inout WriteStep, budget: Int,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    if let batchDebt {
      debt += batchDebt
    } else {
      let pages = min(size.pages, size.footprint / DiskLimits.pageSize + 1)
      debt += min(size.footprint, try share(of: size.footprint, pages: pages, step, in: transaction))
    }
    let isRepaid = try repay(&step, budget: budget, in: &transaction)
    batchDebt = max(0, debt)
    guard isRepaid else { return false }
    while try !hasPages(forBatch: size.footprint, count: count, step, in: transaction) {
      if step.outcome.touchedPages >= budget { return false }
      guard try evict(&step, in: &transaction) else { break }
    }
    return true
  }

  /// Whether the map has room for the batch, and for copies of the pages that it changes.
  private func hasPages(
    forBatch footprint: Int, count: Int, _ step: borrowing WriteStep, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Bool {
    let live = try step.livePages(in: transaction)
    let copied = min(count + count / 8 + 8, live)
    // Records that come between others leave pages partly empty.
    let added = footprint / DiskLimits.pageSize * 5 / 4 + 1
    return live + copied + added <= mostPages
  }

  /// The batch is put.
  mutating func forgetBatch() { batchDebt = nil }

  private func share(
    of footprint: Int, pages: Int, _ step: borrowing WriteStep, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> Int {
    let live = try step.livePages(in: transaction) + pages
    guard live > low else { return 0 }
    return Int(Double(footprint) * min(Double(live - low) / Double(high - low), 2))
  }

  private mutating func repay(
    _ step: inout WriteStep, budget: Int, in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    while debt > 0 {
      if step.outcome.touchedPages >= budget { return false }
      guard try evict(&step, in: &transaction) else {
        debt = 0
        break
      }
    }
    return true
  }

  /// Evicts one record, or purges some of a generation that is dead; false where there are none.
  private mutating func evict(_ step: inout WriteStep, in transaction: inout WriteTransaction) throws(LMDBError) -> Bool
  {
    if let dead = writer.deadGenerations.last {
      let (bytes, isDone) = try step.purge(dead, upTo: 4, in: &transaction)
      debt -= bytes
      if isDone {
        // Should the transaction be aborted, the generation is found again in the file.
        writer.deadGenerations.removeLast()
        step.outcome.hasDeadGenerations = true
      }
      return true
    }
    switch try step.evictOldest(sparing: spared < mostSpared, in: &transaction) {
    case .dropped(let bytes)?: debt -= bytes
    case .spared?: spared += 1
    case nil: return false
    }
    return true
  }
}

extension RecordDraft {
  /// About how many bytes of the file it takes up.
  var footprint: Int { StepOutcome.footprint(size: size, key: key.count) }

  /// About how many pages putting it touches.
  var pages: Int { 1 + StepOutcome.overflowPages(size) }
}

extension WriteStep {
  /// Pages in use: of the tables, of LMDB's own, and the two meta pages. Constant time.
  func livePages(in transaction: borrowing WriteTransaction) throws(LMDBError) -> Int {
    let environment = file.environment
    return try 2 + transaction.statistics(of: file.records).pageCount
      + transaction.statistics(of: file.order).pageCount + transaction.statistics(of: file.meta).pageCount
      + transaction.statistics(of: environment.freeList).pageCount
  }
}
