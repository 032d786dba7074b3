import CisternCore
import LMDB

/// Reclaims space for new records under their keys by eviction, controlled by a debt in bytes.
///
/// Each new record adds a share of its bytes to the debt, and evictions repay it. The share grows from zero at the
/// low watermark to the full size at the high watermark, and to twice the size above it.
///
/// The debt counts bytes instead of pages, because the removal of one record seldom frees a page. Records are
/// evicted by age, but the file sorts them by key, so evictions thin out many pages. New records fill these pages
/// again.
struct SpaceReclaimer {
  private let writer: Writer
  /// The number of pages that the transaction may touch.
  let budget: Int
  private let low: Int
  private let high: Int
  private let mostSecondChances: Int
  /// The limit on the pages that are live or copied at once. The rest of the map holds pages that recent
  /// transactions freed.
  private let mostPages: Int
  /// The number of pages that may be in use when a record is written.
  private let mostLive: Int
  private var debt = 0
  /// The generations to purge. The writer's own list changes after the commit, because the transaction can abort.
  private var deadGenerations: [Generation]
  /// The bytes still to evict for the next batch. It is zero when the batch has its space, and nil after the batch
  /// is put.
  private(set) var batchDebt: Int?
  /// The number of records that got a second chance.
  private(set) var secondChances = 0

  init(writer: Writer, commit: CommitState, budget: Int) {
    self.writer = writer
    self.budget = budget
    let limits = writer.deviceRoom.limits
    low = max(8, limits.lowWatermark - writer.extraMargin)
    high = low + limits.pagesPerTransaction
    mostLive = high + limits.pagesPerTransaction / 2
    mostPages = low + limits.margin / 2
    batchDebt = commit.debt
    deadGenerations = writer.deadGenerations
    mostSecondChances = max(0, writer.engine.counters.records.load(ordering: .relaxed) + 64 - commit.secondChances)
  }

  /// Evicts until the debt, including the record's share, is repaid.
  ///
  /// Returns false if the transaction reaches its page budget first. A dense file makes room when it puts a
  /// record.
  mutating func makeRoom(
    for draft: borrowing RecordDraft, _ step: inout WriteStep, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    guard case .ordered = step.file.layout else { return true }
    var live = try step.livePages(in: transaction)
    debt += share(of: draft.footprint, live: live + draft.pages)
    if debt > 0 {
      guard try repay(&step, in: &transaction) else { return false }
      live = try step.livePages(in: transaction)
    }
    // A page stays in use until its last record leaves. The debt in bytes can be repaid while the number of pages in
    // use increases, so only this bound keeps the margin free.
    while live + draft.overflowPages > mostLive {
      if step.touchedPages >= budget { return false }
      guard try evict(&step, in: &transaction) else { break }
      live = try step.livePages(in: transaction)
    }
    return true
  }

  /// Evicts for all records of a batch before any of them is put.
  ///
  /// A large batch needs more pages than its records fill, because the transaction copies every page that it
  /// changes. After the debt is repaid, records are evicted until the map has room for both. If the transaction
  /// reaches its page budget, the result is false, and `batchDebt` carries the rest over to the next transaction.
  mutating func makeRoom(
    forBatch size: (footprint: Int, pages: Int), count: Int, _ step: inout WriteStep,
    in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    if let batchDebt {
      debt += batchDebt
    } else {
      let pages = min(size.pages, size.footprint / DiskLimits.pageSize + 1)
      let live = try step.livePages(in: transaction) + pages
      debt += min(size.footprint, share(of: size.footprint, live: live))
    }
    let isRepaid = try repay(&step, in: &transaction)
    batchDebt = max(0, debt)
    guard isRepaid else { return false }
    while try !hasPages(forBatch: size.footprint, count: count, step, in: transaction) {
      if step.touchedPages >= budget { return false }
      guard try evict(&step, in: &transaction) else { break }
    }
    return true
  }

  /// Returns whether the map has room for the batch, and for copies of the pages that it changes.
  private func hasPages(
    forBatch footprint: Int, count: Int, _ step: borrowing WriteStep, in transaction: borrowing IndexTransaction
  ) throws(LMDBError) -> Bool {
    let live = try step.livePages(in: transaction)
    let copied = min(count + count / 8 + 8, live)
    // Insertions between other records leave pages partly empty.
    let added = footprint / DiskLimits.pageSize * 5 / 4 + 1
    return live + copied + added <= mostPages
  }

  /// Resets the debt after the batch is put.
  mutating func forgetBatch() { batchDebt = nil }

  /// Returns the part of the new bytes to evict, by the position of the pages in use between the watermarks.
  private func share(of footprint: Int, live: Int) -> Int {
    guard live > low else { return 0 }
    return Int(Double(footprint) * min(Double(live - low) / Double(high - low), 2))
  }

  private mutating func repay(
    _ step: inout WriteStep, in transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    while debt > 0 {
      if step.touchedPages >= budget { return false }
      guard try evict(&step, in: &transaction) else {
        debt = 0
        break
      }
    }
    return true
  }

  /// Evicts one record, or purges a few records of a dead generation. Returns false if no record is left.
  private mutating func evict(_ step: inout WriteStep, in transaction: inout IndexTransaction) throws(LMDBError) -> Bool
  {
    if let dead = deadGenerations.last {
      let purged = try step.records.purge(dead, upTo: 4, in: &transaction)
      debt -= purged.bytes
      if purged.isDone {
        deadGenerations.removeLast()
        step.outcome.hasDeadGenerations = true
      }
      return true
    }
    switch try step.records.evictOldest(givingSecondChances: secondChances < mostSecondChances, in: &transaction) {
    case .evicted(let bytes): debt -= bytes
    case .secondChance: secondChances += 1
    case .noRecord: return false
    }
    return true
  }
}
