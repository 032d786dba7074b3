import CisternCore
import Locking
import Synchronization

/// The invalidations of a partition, safe for use by any thread. ``InvalidationState`` decides.
///
/// Readers compare records with the invalidations. If no invalidation is in force, a reader pays only one load.
///
/// An invalidation is staged first, and then in the file, until a walk has purged the records that it concerns.
/// After that, a reader must not trust an older snapshot, and takes a newer one.
final class InvalidationTable: Sendable {
  /// The result of a comparison between a record and the invalidations.
  enum Visibility {
    case visible
    case concealed
    /// The snapshot is too old for a decision.
    case outdated
  }

  /// Its lock is held for every change of the atomics below.
  private let state = Guarded(InvalidationState())
  /// The newest local version.
  private let newest = Atomic<InvalidationVersion>(.zero)
  /// Readers must compare the records of snapshots before this transaction. The greatest number while an
  /// invalidation is in force, and after ``compareAlways()``.
  private let barrier = Atomic<TransactionNumber>(.zero)
  /// Whether readers compare each record, because records of another codec must not be shown.
  private let comparesAlways = Atomic<Bool>(false)

  /// The newest local version.
  var invalidationVersion: InvalidationVersion { newest.load(ordering: .acquiring) }

  /// The newest known file version. A record that is written now gets it.
  var fileVersion: FileInvalidationVersion { state.withLock { $0.row?.invalidationVersion ?? .zero } }

  /// The newest known file version, or the greatest number before the first read of the file.
  ///
  /// Before that read, the process has no values that an ended invalidation could concern.
  var knownVersion: FileInvalidationVersion { state.withLock { $0.row?.invalidationVersion ?? .max } }

  // MARK: Reading

  /// Returns whether each record of this snapshot is visible, so that a reader need not compare it.
  @inline(__always)
  func isVisibleWithoutComparison(at snapshot: TransactionNumber) -> Bool {
    snapshot >= barrier.load(ordering: .acquiring)
  }

  /// Whether a purge has removed records since this snapshot.
  func isOutdated(_ snapshot: TransactionNumber) -> Bool {
    if isVisibleWithoutComparison(at: snapshot) { return false }
    return state.withLock { snapshot < $0.purgedTransaction }
  }

  /// Compares a record of the file with the invalidations.
  @inline(never)
  func visibility(of metadata: RecordMetadata, key: RawSpan, snapshot: TransactionNumber) -> Visibility {
    state.withLock { state in
      if state.concealsRecord(fileVersion: metadata.fileVersion, key: key, tags: metadata.tags) { return .concealed }
      return snapshot < state.purgedTransaction ? .outdated : .visible
    }
  }

  /// Returns whether a staged record, or one that is about to be staged, must not be shown.
  @inline(__always)
  func conceals(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    metadata.localVersion < invalidationVersion && comparesAndConceals(metadata, key: key)
  }

  /// Returns whether the commit group that has taken the write must not commit it.
  func concealsTaken(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    guard metadata.localVersion < invalidationVersion else { return false }
    return state.withLock { $0.concealsTakenWrite(metadata, key: key) }
  }

  @inline(never)
  private func comparesAndConceals(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    state.withLock { $0.concealsWrite(metadata, key: key) }
  }

  /// Returns the condition of the removal that replaces a concealed write; nil for none.
  func conditionOfRemoval(insteadOf metadata: RecordMetadata, key: RawSpan) -> RecordCondition? {
    state.withLock { $0.numberInFile(ofExcluding: metadata, key: key) }.map { .written(before: $0.number) }
  }

  /// Returns whether an invalidation concerns the lost record.
  func conceals(_ lost: LostRecord, key: RawSpan) -> Bool {
    guard lost.invalidationVersion < invalidationVersion else { return false }
    return state.withLock { $0.concealsWrite(invalidationVersion: lost.invalidationVersion, key: key, tags: lost.tags) }
  }

  /// Returns whether a record that was read earlier, from any snapshot, must not be shown.
  func concealsCommitted(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    let fileVersion = metadata.fileVersion
    guard InvalidationVersion(sameNumberAs: fileVersion) < invalidationVersion || !isEmpty else { return false }
    return state.withLock {
      $0.concealsRecordReadBefore(fileVersion: fileVersion, key: key, tags: metadata.tags)
    }
  }

  /// Returns whether an invalidation of the file, or one that the transaction in progress writes, conceals a record of
  /// the file.
  func concealsInTransaction(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    if isEmpty && InvalidationVersion(sameNumberAs: metadata.fileVersion) >= invalidationVersion { return false }
    return state.withLock {
      $0.concealsRecordInTransaction(fileVersion: metadata.fileVersion, key: key, tags: metadata.tags)
    }
  }

  /// Lets readers compare each record from now on, also while no invalidation is in force.
  ///
  /// A caller can then conceal records for another reason without a cost for other readers.
  func compareAlways() {
    state.withLock { state in
      comparesAlways.store(true, ordering: .relaxed)
      note(state)
    }
  }

  /// Whether no invalidation is in force. Always false after ``compareAlways()``.
  var isEmpty: Bool { barrier.load(ordering: .relaxed) != .max }

  /// The invalidations in force, with local versions. For tests and tools.
  var pending: [Invalidation: InvalidationVersion] { state.withLock { $0.inForce.invalidationVersions } }

  // MARK: Staging

  /// Stages an invalidation. If more than `limit` bytes would be kept, only raises the local version.
  ///
  /// - Parameters:
  ///   - invalidation: The invalidation.
  ///   - limit: The maximum size of the invalidations in force, in bytes.
  ///   - makeTicket: Returns the ticket. It runs inside the lock, which orders the invalidation.
  /// - Returns: The version, and the change of the table.
  func stage(
    _ invalidation: Invalidation, limit: Int, makeTicket: () -> CommitTicket
  ) -> (invalidationVersion: InvalidationVersion, change: Change) {
    state.withLock { state in
      let invalidationVersion = state.advance()
      guard state.hasRoom(for: invalidation, limit: limit) else {
        note(state)
        return (invalidationVersion, .refused)
      }
      let isFirst = state.stage(invalidation, invalidationVersion: invalidationVersion)
      note(state)
      let ticket = makeTicket()
      return (invalidationVersion, isFirst ? .added(ticket) : .replaced(ticket))
    }
  }

  /// The result of staging an invalidation.
  enum Change: Equatable {
    case added(CommitTicket)
    /// The invalidation replaces an equal one, which is staged.
    case replaced(CommitTicket)
    /// The partition has too many invalidations.
    case refused
  }

  // MARK: Committing

  /// Hands over the staged invalidations and the newest local version. Returns nil if no invalidation is staged.
  func beginCommitting() -> (
    invalidations: [Invalidation: InvalidationVersion], invalidationVersion: InvalidationVersion
  )? {
    state.withLock { $0.beginCommitting() }
  }

  /// Hands over the invalidations of the former file beside those that are being committed. Returns them, and the
  /// newest local version.
  func beginRepeating() -> (
    invalidations: [Invalidation: InvalidationVersion], invalidationVersion: InvalidationVersion
  ) {
    state.withLock { (invalidations: $0.beginRepeating(), invalidationVersion: $0.newest) }
  }

  /// Sets the file versions that the current transaction gives to the invalidations.
  func assign(_ rows: [Invalidation: FileInvalidationVersion]) { state.withLock { $0.assign(rows) } }

  /// Takes back the file versions of the current transaction, because it is aborted.
  func withdrawAssigned() {
    state.withLock { state in
      state.withdrawAssigned()
      note(state)
    }
  }

  /// Stages the invalidations again, because they were not committed. Returns the number of added ones.
  func restore() -> Int { state.withLock { $0.restore() } }

  /// Records that the invalidations are committed with these file versions.
  func publish(
    _ rows: [Invalidation: FileInvalidationVersion], row: InvalidationVersionRow, transaction: TransactionNumber
  ) {
    state.withLock { state in
      state.publish(rows, row: row, transaction: transaction)
      note(state)
    }
  }

  /// Returns whether this row was the last one that was read or written.
  func isKnown(_ row: InvalidationVersionRow) -> Bool { state.withLock { $0.row == row } }

  /// Learns the invalidations in the file from a snapshot. Any process may have committed them.
  func learn(_ row: InvalidationVersionRow, _ rows: InvalidationRows, transaction: TransactionNumber) {
    state.withLock { state in
      state.learn(row, rows, transaction: transaction)
      note(state)
    }
  }

  // MARK: Purging

  /// The invalidations that a walk can purge, with file versions.
  var purgeable: [Invalidation: FileInvalidationVersion] { state.withLock { $0.committed.invalidationVersions } }

  /// Ends the invalidations, after a walk has purged their records and the transaction has ended them in the file.
  func endPurged(
    _ targets: [Invalidation: FileInvalidationVersion], row: InvalidationVersionRow, transaction: TransactionNumber
  ) {
    state.withLock { state in
      state.endPurged(targets, row: row, transaction: transaction)
      note(state)
    }
  }

  /// Returns whether a file with this row of versions, as of this transaction, has all that is known of its
  /// invalidations.
  func isContinued(by row: InvalidationVersionRow, transaction: TransactionNumber) -> Bool {
    state.withLock { $0.isContinued(by: row, transaction: transaction) }
  }

  /// Marks the invalidations of the old file as those to repeat, because another file is open. Returns the number of
  /// added ones.
  ///
  /// Repeats ended ones as long as all invalidations in force fit into `limit` bytes.
  func forgetFile(repeatingEndedUpTo limit: Int) -> Int {
    state.withLock { state in
      defer { note(state) }
      return state.forgetFile(repeatingEndedUpTo: limit)
    }
  }

  /// Publishes the values that readers load without the lock. The caller holds the lock.
  ///
  /// The barrier must come first: a reader that sees the new version must compare its records with the
  /// invalidation.
  private func note(_ state: InvalidationState) {
    let compares = !state.inForce.isEmpty || comparesAlways.load(ordering: .relaxed)
    barrier.store(compares ? .max : state.purgedTransaction, ordering: .sequentiallyConsistent)
    newest.store(state.newest, ordering: .sequentiallyConsistent)
  }
}
