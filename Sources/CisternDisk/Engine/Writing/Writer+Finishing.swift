import CisternCore
import LMDB

// The end of a commit group: staging, record losses, reports and waiters.

extension Writer {
  /// Ends the commit group, whether or not it is completely committed.
  ///
  /// Committed writes leave the staging area. A removal replaces each record that could not be committed.
  func finish(_ commit: CommitState) {
    var keptBytes = 0
    var keptCount = 0
    for changes in commit.group.changes {
      let removals = restoreUnwritten(of: changes, commit)
      keptBytes += removals.bytes
      keptCount += removals.count
      if !commit.arePreliminariesCommitted {
        keptCount += restorePreliminaries(of: changes, through: commit.group.through)
      } else if changes.clears {
        changes.partition.endCommittedClear()
      }
    }
    if commit.group.unopened != nil {
      keptCount += engine.unopened.withLock { unopened in
        guard commit.arePreliminariesCommitted else { return unopened.restore() }
        unopened.finishCommitting()
        return 0
      }
    }
    // The additional ticket makes the next flush wait for these removals. The key's older record must not stay on
    // disk after that flush.
    if keptCount > 0 { _ = engine.nextTicket() }
    engine.stagedBytes.subtract(commit.group.takenBytes - keptBytes, ordering: .relaxed)
    engine.stagedCount.subtract(commit.group.takenCount - keptCount, ordering: .sequentiallyConsistent)
    reportAndResume(commit)
  }

  /// Ends the commit of a partition's staged writes. Stages a removal for each record that could not be committed.
  ///
  /// - Returns: The size in bytes and the number of these removals.
  private func restoreUnwritten(of changes: PartitionChanges, _ commit: CommitState) -> (bytes: Int, count: Int) {
    let unwritten = commit.unwritten
    var bytes = 0
    var count = 0
    changes.partition.staging.finishCommitting { entry in
      unwritten.contains(entry.ticket) && entry.clearCount == changes.clearCount
    } replacing: { entry in
      if entry.isRewrite { return nil }
      if case .record(let key, let metadata, _) = entry.write {
        let record = LostRecord(
          clearCount: entry.clearCount, invalidationVersion: metadata.localVersion, tags: metadata.tags,
          schemaVersion: metadata.schemaVersion)
        changes.partition.lostKeys.insert(key, record)
      }
      let removal = StagedEntry(
        write: .removal(key: entry.write.key), ticket: entry.ticket, clearCount: entry.clearCount,
        condition: changes.partition.condition(of: entry))
      bytes += removal.size
      count += 1
      return removal
    }
    if !unwritten.isEmpty { changes.partition.isDirty.store(true, ordering: .sequentiallyConsistent) }
    return (bytes, count)
  }

  /// Stages the clear and the invalidations of a partition again. Returns their number.
  private func restorePreliminaries(of changes: PartitionChanges, through ticket: CommitTicket) -> Int {
    var count = 0
    if let (invalidations, _) = changes.invalidated {
      if !invalidations.isEmpty { count += changes.partition.invalidations.restore() }
      changes.partition.isDirty.store(true, ordering: .sequentiallyConsistent)
    }
    if changes.clears, changes.partition.restoreClear(ticket) { count += 1 }
    return count
  }

  /// Reports the losses and errors of the commit group, and then resumes its waiters.
  private func reportAndResume(_ commit: CommitState) {
    // Losses and errors are reported before waiters resume, so that after a flush all of them are reported.
    for (partition, losses) in commit.losses { partition.report(losses) }
    for error in commit.refusals {
      report(StoreReport(.refused, error.message, location: engine.directory, cause: error))
    }
    engine.progress.withLock { $0.note(commit.failures, through: commit.group.through, error: commit.failureOfAll) }
    deliverReports()
    // A flush that begins after the end of this group is not among its waiters, and must throw nevertheless.
    if let loss = commit.firstLossError { engine.noteFlushError(commit.error == nil ? loss : engine.outageError) }
    if let error = commit.error {
      degrade(error)
    } else {
      reportSmallDevice()
      deliverReports()
    }
    makeDurableAndResume(through: commit.group.through)
  }

  /// Resumes the waiters of all writes up to the ticket. If the store promises it, the file is first written to the
  /// device.
  ///
  /// The note of the file follows the write-through, because it sets the file's times. Some systems would write
  /// these through as well.
  func makeDurableAndResume(through ticket: CommitTicket) {
    let isAwaited = engine.progress.withLock { progress in
      progress.settle(through: ticket)
      return progress.isAwaited
    }
    if engine.options.durability == .powerCut, !isAwaited { return noteChanges() }
    makeDurableAndResume()
  }

  /// Resumes the waiters of all settled writes. If the store promises it, the file is first written to the device.
  func makeDurableAndResume() {
    if engine.options.durability == .powerCut, let error = synchronize(), engine.mode == .active { degrade(error) }
    noteChanges()
    for waiter in engine.progress.withLock({ $0.makeDurable() }) { waiter.resume() }
  }

  /// Writes the file through to the device, also after a group whose last transaction failed: the earlier ones are
  /// committed.
  ///
  /// - Returns: The diagnosed error of the device. It is recorded as the failure of all commits that were not durable.
  @discardableResult
  func synchronize() -> LMDBError? {
    guard engine.mode == .active || engine.mode == .degraded else { return nil }
    guard let file = engine.file else {
      noteLostCommits()
      return nil
    }
    do {
      if needsNewMetaPage { try advanceTransaction(in: file) }
      try engine.injectFault(engine.options.faults.atSynchronization(), in: LMDBError.synchronizeOperation)
      try file.environment.synchronize(force: true)
      return nil
    } catch {
      noteLostPages()
      let error = engine.diagnosis(of: error)
      noteNotSynchronized(error)
      return error
    }
  }

  /// Records that the commits are in the file, but that the newest ones may not survive a power cut.
  func noteNotSynchronized(_ error: LMDBError) {
    let failure = CisternError(
      .diskFailed, "the last commits could not be written to the device", location: engine.directory, cause: error)
    engine.progress.withLock { $0.noteNotSynchronized(failure) }
  }

  /// Records that the commits that were not written through are lost with their file.
  func noteLostCommits() {
    let failure = CisternError(
      .diskFailed, "the data file was closed or replaced before its last commits were written to the device",
      location: engine.directory)
    engine.progress.withLock { $0.noteNotSynchronized(failure) }
  }
}
