import Locking
import Synchronization

/// The invalidations of a partition: storage around ``InvalidationState``. Readers compare with them, and mostly there are
/// none to compare with: then they pay one load.
///
/// An invalidation is *staged*, then in the file, until a walk over the records has removed what it concerns. After that, a
/// reader must not believe a snapshot from before: it takes a newer one.
final class InvalidationTable: Sendable {
  /// What a reader is to make of a record that it found.
  enum Visibility {
    case visible
    case concealed
    /// The snapshot is too old to tell.
    case outdated
  }

  /// Changes every atomic below.
  private let state = Guarded(InvalidationState())
  /// The number of the newest invalidation, by this process's order.
  private let newest = Atomic<UInt64>(0)
  /// Records of snapshots with lesser numbers have to be compared: the greatest number while anything is in force.
  private let barrier = Atomic<UInt>(0)

  var era: UInt64 { newest.load(ordering: .acquiring) }

  /// The newest number of the file's order that is known: what a record is stamped with that is written now.
  var fileEra: UInt64 { state.withLock { $0.row?.era ?? 0 } }

  /// As `fileEra`; the greatest number before the first look, when nothing is on its way here.
  var knownEra: UInt64 { state.withLock { $0.row?.era ?? .max } }

  // MARK: Reading

  /// Whether a record of this snapshot is to be shown without a closer look.
  @inline(__always)
  func isClear(for snapshot: UInt) -> Bool { snapshot >= barrier.load(ordering: .acquiring) }

  /// The closer look at a record of the file.
  @inline(never)
  func visibility(of metadata: RecordMetadata, key: RawSpan, snapshot: UInt) -> Visibility {
    state.withLock { state in
      if state.concealsRecord(era: metadata.era, key: key, tags: metadata.tags) { return .concealed }
      return snapshot < state.purgedTransaction ? .outdated : .visible
    }
  }

  /// Whether a staged record, or one that is about to be, is not to be shown.
  @inline(__always)
  func conceals(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    metadata.era < era && concealsSurely(metadata, key: key)
  }

  @inline(never)
  private func concealsSurely(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    state.withLock { $0.concealsWrite(metadata, key: key) }
  }

  /// As of a record, of what has left of one.
  func conceals(_ departed: DepartedRecord, key: RawSpan) -> Bool {
    guard departed.era < era else { return false }
    return state.withLock { $0.concealsWrite(era: departed.era, key: key, tags: departed.tags) }
  }

  /// As `visibility`, for a record that was read from the file a while ago, by whatever snapshot.
  func concealsCommitted(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    guard metadata.era < era || !isEmpty else { return false }
    return state.withLock { $0.concealsRecordReadBefore(era: metadata.era, key: key, tags: metadata.tags) }
  }

  /// Whether a staged record is not to be written any more: an invalidation since concerns it. Its commit would give it a
  /// number of the file's order that the invalidation does not reach.
  func isVoid(_ metadata: RecordMetadata, key: RawSpan) -> Bool { conceals(metadata, key: key) }

  var isEmpty: Bool { barrier.load(ordering: .relaxed) != .max }

  /// What is in force, by this process's order; for tests and tools.
  var pending: [Invalidation: UInt64] { state.withLock { $0.inForce.eras } }

  // MARK: Staging

  /// Takes an invalidation; `makeNumber` is called at the point that orders it. Beyond `limit` bytes it only counts it.
  func stage(
    _ invalidation: Invalidation, limit: Int, makeNumber: () -> UInt64
  ) -> (era: UInt64, number: UInt64, change: Change) {
    state.withLock { state in
      let era = state.advance()
      guard state.hasRoom(for: invalidation, limit: limit) else {
        note(state)
        return (era, 0, .refused)
      }
      let isFirst = state.stage(invalidation, era: era)
      note(state)
      return (era, makeNumber(), isFirst ? .added : .replaced)
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

  /// Hands over what was staged, and the newest number; nil if there is nothing to write.
  func beginCommitting() -> (invalidations: [Invalidation: UInt64], era: UInt64)? {
    state.withLock { $0.beginCommitting() }
  }

  /// The present transaction gives these numbers of the file's order to what was handed over.
  func assign(_ rows: [Invalidation: UInt64]) { state.withLock { $0.assign(rows) } }

  /// What was handed over was not committed; answers how many are staged again.
  func restore() -> Int { state.withLock { $0.restore() } }

  /// What was handed over is in the file, under the numbers that it has there.
  func publish(_ rows: [Invalidation: UInt64], row: EraRow, transaction: UInt) {
    state.withLock { state in
      state.publish(rows, row: row, transaction: transaction)
      note(state)
    }
  }

  /// Whether this is the row that was seen or written last.
  func isKnown(_ row: EraRow) -> Bool { state.withLock { $0.row == row } }

  /// A snapshot has shown what is in the file, by whichever process it was committed.
  func learn(_ row: EraRow, _ rows: InvalidationRows, transaction: UInt) {
    state.withLock { state in
      state.learn(row, rows, transaction: transaction)
      note(state)
    }
  }

  // MARK: Purging

  /// What a walk over the records can end, by the file's order; empty if there is nothing to do.
  var purgeable: [Invalidation: UInt64] { state.withLock { $0.committed.eras } }

  /// A walk has ended them, and the commit of this transaction has said so in the file.
  func purged(_ targets: [Invalidation: UInt64], row: EraRow, transaction: UInt) {
    state.withLock { state in
      state.purged(targets, row: row, transaction: transaction)
      note(state)
    }
  }

  /// The file was replaced by an empty one: everything is to be written again. Answers how many are staged for it.
  func forgetFile() -> Int {
    state.withLock { state in
      defer { note(state) }
      return state.forgetFile()
    }
  }

  /// Publishes the words that are read without the lock. With the lock held.
  ///
  /// The barrier first: a reader that sees the new number must compare what it finds with the invalidation.
  private func note(_ state: InvalidationState) {
    barrier.store(state.inForce.isEmpty ? state.purgedTransaction : .max, ordering: .sequentiallyConsistent)
    newest.store(state.newest, ordering: .sequentiallyConsistent)
  }
}
