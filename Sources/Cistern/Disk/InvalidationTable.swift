import Locking
import Synchronization

/// The invalidations of a partition that are in force: staged, or committed and not yet purged. Readers compare with them,
/// and mostly there are none to compare with: then they pay one load.
///
/// An invalidation is *staged*, then in the file, until a walk over the records has removed what it concerns. Where that is
/// done, a reader with a snapshot from before must not believe it: it takes a newer one.
final class InvalidationTable: Sendable {
  private struct State: Sendable {
    /// To be committed; being committed; in the file. A newer one of the same takes the place of an older.
    var staged: [Invalidation: UInt64] = [:]
    var committing: [Invalidation: UInt64] = [:]
    var committed = InvalidationSet()
    /// All of these.
    var inForce = InvalidationSet()
    /// Those that were purged lately: a write that comes late is compared with them too.
    var remembered = InvalidationSet()
    /// Snapshots before this transaction may show what was purged.
    var purgedTransaction: UInt = 0
    /// The row of the file, as last seen or written; nil before the first look.
    var row: EraRow?
    /// The transaction that `row` is of.
    var learnedTransaction: UInt = 0
    /// Another process began and ended an invalidation that nobody here saw: writes of lesser numbers are void.
    var unseen: UInt64 = 0

    func concealsCommitted(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
      inForce.conceals(era: era, key: key, tags: tags) || remembered.conceals(era: era, key: key, tags: tags)
    }
  }

  /// What a reader is to make of a record that it found.
  enum Visibility {
    case visible
    case concealed
    /// The snapshot is too old to tell.
    case outdated
  }

  /// Changes every atomic below.
  private let state = Guarded(State())
  /// The number of the newest invalidation.
  private let newest = Atomic<UInt64>(0)
  /// Records of snapshots with lesser numbers have to be compared: the greatest number while anything is in force.
  private let barrier = Atomic<UInt>(0)

  /// The bytes of invalidations that are remembered after they were purged.
  private static let rememberedSize = 1 << 20

  var era: UInt64 { newest.load(ordering: .acquiring) }

  // MARK: Reading

  /// Whether a record of this snapshot is to be shown without a closer look.
  @inline(__always)
  func isClear(for snapshot: UInt) -> Bool { snapshot >= barrier.load(ordering: .acquiring) }

  /// The closer look at a record of the file.
  @inline(never)
  func visibility(of metadata: RecordMetadata, key: RawSpan, snapshot: UInt) -> Visibility {
    state.withLock { state in
      if state.inForce.conceals(era: metadata.era, key: key, tags: metadata.tags) { return .concealed }
      return snapshot < state.purgedTransaction ? .outdated : .visible
    }
  }

  /// Whether a staged record, or one that is about to be, is not to be shown.
  @inline(__always)
  func conceals(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    metadata.era < era && concealsSurely(era: metadata.era, key: key, tags: metadata.tags)
  }

  /// As of a record, of what has left of one.
  func conceals(_ departed: DepartedRecord, key: RawSpan) -> Bool {
    departed.era < era && concealsSurely(era: departed.era, key: key, tags: departed.tags)
  }

  @inline(never)
  private func concealsSurely(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    state.withLock { $0.concealsCommitted(era: era, key: key, tags: tags) || era < $0.unseen }
  }

  /// As `visibility`, for a record that was read from the file a while ago, by whatever snapshot.
  func concealsCommitted(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    guard metadata.era < era else { return false }
    return state.withLock { $0.concealsCommitted(era: metadata.era, key: key, tags: metadata.tags) }
  }

  /// Whether a staged record is not to be written any more: an invalidation that concerns it is in the file, and the walk
  /// that ends it may be past the record's key. In a store of one process that has been seen to before it was staged.
  func isVoid(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    guard metadata.era < era else { return false }
    return state.withLock { state in
      metadata.era < state.unseen || state.committed.conceals(era: metadata.era, key: key, tags: metadata.tags)
        || state.remembered.conceals(era: metadata.era, key: key, tags: metadata.tags)
    }
  }

  var isEmpty: Bool { barrier.load(ordering: .relaxed) != .max }

  /// What is in force; for tests and tools.
  var pending: [Invalidation: UInt64] { state.withLock { $0.inForce.eras } }

  // MARK: Staging

  /// Takes an invalidation; `makeNumber` is called at the point that orders it. Beyond `limit` bytes it only counts it.
  func stage(
    _ invalidation: Invalidation, limit: Int, makeNumber: () -> UInt64
  ) -> (era: UInt64, number: UInt64, change: Change) {
    state.withLock { state in
      let era = newest.load(ordering: .relaxed) + 1
      newest.store(era, ordering: .sequentiallyConsistent)
      if state.inForce.eras[invalidation] == nil, state.inForce.size + invalidation.size > limit {
        return (era, 0, .refused)
      }
      let number = makeNumber()
      let isFirst = state.staged.updateValue(era, forKey: invalidation) == nil
      state.inForce.add(invalidation, era: era)
      raiseBarrier(state)
      return (era, number, isFirst ? .added : .replaced)
    }
  }

  /// What staging an invalidation did.
  enum Change {
    case added
    case replaced
    /// There are too many.
    case refused
  }

  // MARK: Committing

  /// Hands over what was staged, and the row that goes with it; nil where there is nothing to write.
  func beginCommitting() -> (invalidations: [Invalidation: UInt64], era: UInt64)? {
    state.withLock { state in
      let era = newest.load(ordering: .relaxed)
      guard !state.staged.isEmpty || era > state.row?.era ?? 0 else { return nil }
      state.committing = state.staged
      state.staged = [:]
      return (state.committing, era)
    }
  }

  /// What was handed over was not committed; answers how many are staged again.
  func restore() -> Int {
    state.withLock { state in
      let before = state.staged.count
      state.staged.merge(state.committing) { max($0, $1) }
      state.committing = [:]
      return state.staged.count - before
    }
  }

  /// What was handed over is in the file, under the numbers that it has there.
  func publish(_ rows: [Invalidation: UInt64], row: EraRow, transaction: UInt) {
    state.withLock { state in
      state.committing = [:]
      raise(to: row.era)
      guard transaction >= state.learnedTransaction else { return renew(&state) }
      state.learnedTransaction = transaction
      state.row = row
      for (invalidation, era) in rows {
        state.committed.add(invalidation, era: era)
        state.inForce.add(invalidation, era: era)
      }
      raiseBarrier(state)
    }
  }

  /// Whether this is the row that was seen or written last.
  func isKnown(_ row: EraRow) -> Bool { state.withLock { $0.row == row } }

  /// A snapshot has shown what is in the file, by whomever it was committed.
  func learn(_ row: EraRow, _ rows: [Invalidation: UInt64], transaction: UInt) {
    state.withLock { state in
      guard state.row == nil || transaction > state.learnedTransaction else { return }
      if let known = state.row?.era, row.purged > known {
        // Whatever is on its way here may be concerned.
        state.unseen = max(row.era, newest.load(ordering: .relaxed)) + 1
        raise(to: state.unseen)
      }
      for (invalidation, era) in state.committed.eras where rows[invalidation] == nil {
        remember(invalidation, era: era, &state)
        state.purgedTransaction = transaction
      }
      state.row = row
      state.learnedTransaction = transaction
      state.committed = rows.reduce(into: InvalidationSet()) { $0.add($1.key, era: $1.value) }
      raise(to: row.era)
      renew(&state)
    }
  }

  // MARK: Purging

  /// What a walk over the records can end; empty where there is nothing to do.
  var purgeable: [Invalidation: UInt64] { state.withLock { $0.committed.eras } }

  /// A walk has ended them, and the commit of this transaction has taken them out of the file.
  func purged(_ targets: [Invalidation: UInt64], row: EraRow, transaction: UInt) {
    state.withLock { state in
      state.row = row
      state.learnedTransaction = max(state.learnedTransaction, transaction)
      state.purgedTransaction = max(state.purgedTransaction, transaction)
      for (invalidation, era) in targets {
        state.committed.remove(invalidation, era: era)
        state.inForce.remove(invalidation, era: era)
        remember(invalidation, era: era, &state)
      }
      raiseBarrier(state)
    }
  }

  /// The file was replaced by an empty one: everything is to be written again. Answers how many are staged for it.
  func forgetFile() -> Int {
    state.withLock { state in
      let before = state.staged.count
      state.staged.merge(state.committed.eras) { max($0, $1) }
      state.committed = InvalidationSet()
      state.row = nil
      state.learnedTransaction = 0
      state.purgedTransaction = 0
      raiseBarrier(state)
      return state.staged.count - before
    }
  }

  // With the lock held.

  private func renew(_ state: inout State) {
    state.inForce = InvalidationSet()
    for part in [state.committed.eras, state.committing, state.staged] {
      for (invalidation, era) in part { state.inForce.add(invalidation, era: era) }
    }
    raiseBarrier(state)
  }

  private func remember(_ invalidation: Invalidation, era: UInt64, _ state: inout State) {
    if state.remembered.size > InvalidationTable.rememberedSize { state.remembered = InvalidationSet() }
    state.remembered.add(invalidation, era: era)
  }

  private func raise(to era: UInt64) {
    if newest.load(ordering: .relaxed) < era { newest.store(era, ordering: .sequentiallyConsistent) }
  }

  private func raiseBarrier(_ state: State) {
    barrier.store(state.inForce.isEmpty ? state.purgedTransaction : .max, ordering: .sequentiallyConsistent)
  }
}
