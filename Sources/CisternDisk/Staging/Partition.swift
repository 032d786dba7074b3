import CisternCore
import Locking
import Synchronization

/// The state of one cache in the disk tier. All openings of the directory in this process share it.
///
/// Each record belongs to a partition generation. Clearing the partition starts a new generation: it releases the
/// staged writes and hides the committed records at once. The writer thread purges the records of the old
/// generation later.
final class Partition: Sendable {
  let name: String
  let staging = StagingArea()
  let counters = PartitionCounters()
  let lostKeys = LostKeys()
  let invalidations = InvalidationTable()
  let formats = PartitionFormats()
  let clearState = ClearState()
  /// The clear count in the upper 16 bits, and the generation whose records are read in the lower 48 bits.
  ///
  /// A generation of zero means that the partition has no committed records.
  ///
  /// Both are in one word, so that readers see the end of staged and of committed records in one step.
  private let visible = Atomic<UInt64>(0)
  /// The newest transaction as of which `visible` is known to be current.
  ///
  /// The file has the same number for all partitions (``DiskFile/knownTransaction``). The greater of the two
  /// applies. Zero before the first read of the file.
  let knownTransaction = Atomic<TransactionNumber>(.zero)
  /// Whether the partition has changes for the writer thread.
  ///
  /// The writer thread clears the flag before it takes the changes. Other threads set it after a change, or under
  /// the lock that the writer thread takes next.
  let isDirty = Atomic<Bool>(false)
  /// The lock of the control state. Every change of `visible` happens under it.
  private let control = Guarded(Control())

  private struct Control: Sendable {
    /// The ticket of the newest clear that the writer thread has not taken.
    var pendingClear: CommitTicket?
    /// The clear that the writer thread has taken with the commit group in progress.
    var takenClear = TakenClear.none
    /// The generation in the file as of ``knownTransaction``. Readers do not see it while a clear is not committed.
    var generation = Generation.zero
    /// The handlers of record losses, by the number of the opening.
    var handlers: [Int: @Sendable ([RecordLoss]) -> Void] = [:]
  }

  init(name: String) {
    self.name = name
  }

  // MARK: Reading

  static func clearCount(of word: UInt64) -> ClearCount { ClearCount(number: UInt16(truncatingIfNeeded: word >> 48)) }
  static func generation(of word: UInt64) -> Generation { Generation(number: word & (1 << 48 - 1)) }

  static func word(_ clearCount: ClearCount, _ generation: Generation) -> UInt64 {
    UInt64(clearCount.number) << 48 | generation.number
  }

  /// The clear count. A staged write with another one is void.
  @inline(__always)
  var clearCount: ClearCount { Partition.clearCount(of: visible.load(ordering: .acquiring)) }

  /// The generation whose records are read, or zero if the partition has none.
  @inline(__always)
  var generation: Generation { Partition.generation(of: visible.load(ordering: .acquiring)) }

  /// The clear count, and the generation that belongs to it, from one load.
  var clearCountAndGeneration: (clearCount: ClearCount, generation: Generation) {
    let word = visible.load(ordering: .acquiring)
    return (Partition.clearCount(of: word), Partition.generation(of: word))
  }

  /// Returns the staged write of the key, or nil if the key has no valid staged write.
  @inline(__always)
  func stagedEntry(forKey key: RawSpan) -> StagedEntry? {
    if staging.isEmpty { return nil }
    guard let entry = staging.entry(forKey: key, isConcealed: isConcealed), entry.clearCount == clearCount else {
      return nil
    }
    return entry
  }

  /// Returns the newest staged write of the key that is not a rewrite of its record; nil if the key has none.
  func stagedEntryExceptRewrite(forKey key: RawSpan) -> StagedEntry? {
    if staging.isEmpty { return nil }
    guard let entry = staging.entryExceptRewrite(forKey: key), entry.clearCount == clearCount else { return nil }
    return entry
  }

  /// Returns whether an invalidation conceals a value that was set. Other records are compared later, after a look at
  /// the disk.
  private func isConcealed(_ entry: StagedEntry) -> Bool {
    guard case .record(let key, let metadata, _) = entry.write, metadata.isSet else { return false }
    return invalidations.conceals(metadata, key: key.rawSpan)
  }

  /// Whether the generation was read from the file. Before that, the file can have records of any key.
  var isLearned: Bool { knownTransaction.load(ordering: .acquiring) != .zero }

  // MARK: Staging

  /// Stages a write. The staging area calls `makeTicket` under the shard's lock, at the point that orders the write
  /// among the writes of its key.
  func stage(_ write: StagedWrite, batch: BatchNumber? = nil, makeTicket: () -> CommitTicket) -> StagingChange {
    staging.stage(write, batch: batch) {
      // The flag is set under the lock that the writer thread takes after it clears the flag, and before the ticket
      // exists. The writer thread takes all writes up to a ticket. So either it takes this write, or it finds the
      // flag set.
      if !isDirty.load(ordering: .sequentiallyConsistent) { isDirty.store(true, ordering: .sequentiallyConsistent) }
      let ticket = makeTicket()
      lostKeys.remove(write.key)
      // The check is under the lock, so that the write is handed over no later than an invalidation that follows
      // it.
      guard case .record(let key, let metadata, _) = write, invalidations.conceals(metadata, key: key.rawSpan) else {
        return (ticket, clearCount, nil)
      }
      let condition = invalidations.conditionOfRemoval(insteadOf: metadata, key: key.rawSpan)
      return (ticket, clearCount, ReplacingRemoval(key: key, condition: condition))
    }
  }

  /// Stages a write that replaces or removes a record only if the condition holds for it.
  ///
  /// Returns nil if no record of the key can satisfy the condition.
  func stage(_ write: StagedWrite, if condition: RecordCondition, makeTicket: () -> CommitTicket) -> StagingChange? {
    staging.stage(write, if: condition) { present in
      // Readers see no record now, so the caller reports the removal. If a rewrite is staged, the loss stays until it
      // is acknowledged.
      if case .removal = write, case .removal = present.write, present.condition == nil {
        lostKeys.remove(present.write.key)
      }
    } make: {
      switch write {
      case .record(let key, let metadata, _):
        // The record has left the disk, or an invalidation conceals it.
        let hasLeft = lostKeys.record(ofKey: key.rawSpan) != nil
        if hasLeft || invalidations.conceals(metadata, key: key.rawSpan) { return nil }
      case .removal(let key): lostKeys.remove(key)
      }
      if !isDirty.load(ordering: .sequentiallyConsistent) { isDirty.store(true, ordering: .sequentiallyConsistent) }
      return (makeTicket(), clearCount)
    }
  }

  // MARK: Invalidation

  /// Stages an invalidation. The table calls `makeTicket` under its lock, at the point that orders the invalidation
  /// among the partition's writes.
  func stageInvalidation(
    _ invalidation: Invalidation, limit: Int, makeTicket: () -> CommitTicket
  ) -> (invalidationVersion: InvalidationVersion, change: InvalidationTable.Change) {
    invalidations.stage(invalidation, limit: limit) {
      isDirty.store(true, ordering: .sequentiallyConsistent)
      return makeTicket()
    }
  }

  // MARK: Clears

  /// Clears the partition: hides all of its records, and releases its staged writes.
  ///
  /// `makeTicket` runs under the control lock, at the point that orders the clear among the partition's writes. In
  /// the result, `isFirst` tells whether the writer thread had no earlier clear to take, and `freed` counts the
  /// released writes.
  func clear(makeTicket: () -> CommitTicket) -> (
    ticket: CommitTicket, isFirst: Bool, freed: (bytes: Int, count: Int)
  ) {
    // The void writes and the lost keys are freed outside the lock.
    let (ticket, isFirst, clears, _) = control.withLock { control in
      // The flag precedes the ticket: the writer thread takes all partitions with the flag up to a ticket.
      isDirty.store(true, ordering: .sequentiallyConsistent)
      let ticket = makeTicket()
      let isFirst = control.pendingClear == nil
      control.pendingClear = ticket
      clearState.noteClear(isCommitted: false)
      let word = visible.load(ordering: .relaxed)
      let clearCount = Partition.clearCount(of: word).next()
      // From this store on, readers see neither staged nor committed records of the old generation.
      visible.store(Partition.word(clearCount, .zero), ordering: .sequentiallyConsistent)
      // After the store: a caller that finds no requirement finds no record from before it either.
      clearState.noteClearPerformed()
      // Under the lock: otherwise, this clear could remove the losses that follow a later one.
      return (ticket, isFirst, staging.begin(clearCount: clearCount), lostKeys.removeAll())
    }
    return (ticket, isFirst, clears.reduce(into: (0, 0)) { $0 = ($0.0 + $1.bytes, $0.1 + $1.count) })
  }

  /// Requires that the cache clears the partition. A clear in progress does not end the requirement.
  func requireClear() { control.withLock { _ in clearState.requireClear() } }

  /// Hands the staged changes to the writer thread. A clear in them precedes the writes.
  func beginCommitting() -> PartitionChanges {
    control.withLock { control in
      // Invalidations and writes are taken at one point in time. A write before an invalidation is handed over with it
      // or earlier, and a write after it with it or later. An invalidation that is handed over later gets a greater
      // file version, and conceals the write.
      let (writes, links, invalidated) = staging.beginCommitting { invalidations.beginCommitting() }
      var changes = PartitionChanges(
        partition: self, clearCount: clearCount, clears: control.pendingClear != nil, writes: writes, links: links
      )
      changes.invalidated = invalidated
      control.takenClear = control.pendingClear == nil ? .none : .uncommitted
      control.pendingClear = nil
      return changes
    }
  }

  /// Publishes the generation after the changes are committed. The generation is zero if the partition has no records.
  func publish(generation: Generation, clearCount: ClearCount, transaction: TransactionNumber) {
    control.withLock { control in
      control.takenClear.noteCommit()
      clearState.noteClear(isCommitted: control.pendingClear == nil)
      // A reader can have learned of a later commit, by another process, before this call.
      if transaction >= knownTransaction.load(ordering: .relaxed) {
        control.generation = generation
        knownTransaction.store(transaction, ordering: .releasing)
      }
      // A later clear will remove this generation. Changes for another file can have the count of that clear.
      guard self.clearCount == clearCount, control.pendingClear == nil else { return }
      visible.store(Partition.word(clearCount, control.generation), ordering: .releasing)
    }
  }

  /// Notes a clear that the commit group in progress has committed, and that was not staged in this partition.
  func noteCommittedClear() { control.withLock { $0.takenClear = .committed } }

  /// Ends the commit group of a clear that is committed. The group removes no records from later files.
  func endCommittedClear() { control.withLock { $0.takenClear = .none } }

  /// Stages a clear again after its commit failed. Returns false if a later clear is already pending.
  func restoreClear(_ ticket: CommitTicket) -> Bool {
    let isRestored = control.withLock { control in
      control.takenClear = .none
      if control.pendingClear != nil { return false }
      control.pendingClear = ticket
      return true
    }
    isDirty.store(true, ordering: .sequentiallyConsistent)
    return isRestored
  }

  /// Updates the generation from a snapshot as of `transaction`. Another process can have committed it.
  func learn(generation: Generation, transaction: TransactionNumber) {
    control.withLock { control in
      guard transaction > knownTransaction.load(ordering: .relaxed) else { return }
      control.generation = generation
      // A clear of this process that is not yet committed will come after every commit in the snapshot.
      if control.pendingClear == nil, !control.takenClear.hidesRecords {
        visible.store(Partition.word(clearCount, generation), ordering: .releasing)
      }
      knownTransaction.store(transaction, ordering: .releasing)
    }
  }

  /// Resets the partition after another file, or an older copy, replaced the old one.
  ///
  /// Staged writes stay. Ended invalidations are staged again as long as all invalidations in force fit into `limit`
  /// bytes. Returns the number of additional changes that are staged for the new file.
  func forgetFile(repeatingEndedUpTo limit: Int = 0) -> Int {
    control.withLock { control in
      control.takenClear.noteOtherFile()
      if control.takenClear.hidesRecords { clearState.noteClear(isCommitted: false) }
      control.generation = .zero
      visible.store(Partition.word(clearCount, .zero), ordering: .releasing)
      knownTransaction.store(.zero, ordering: .releasing)
    }
    isDirty.store(true, ordering: .sequentiallyConsistent)
    return invalidations.forgetFile(repeatingEndedUpTo: limit)
  }

  // MARK: Record losses

  func addHandler(_ handler: @escaping @Sendable ([RecordLoss]) -> Void, for owner: Int) {
    control.withLock { $0.handlers[owner] = handler }
  }

  func removeHandler(for owner: Int) {
    // The handler is released outside the lock, because it belongs to the user.
    _ = control.withLock { $0.handlers.removeValue(forKey: owner) }
  }

  /// Notifies all openings of the partition of record losses. The caller must not hold a lock or a transaction.
  func report(_ losses: [RecordLoss]) {
    guard !losses.isEmpty || clearState.hasLostFile else { return }
    let handlers = control.withLock { Array($0.handlers.values) }
    for handler in handlers { handler(losses) }
    // The handlers have acknowledged the losses. Without a handler, no cache does so.
    for loss in losses { lostKeys.remove(loss.key) }
  }
}
