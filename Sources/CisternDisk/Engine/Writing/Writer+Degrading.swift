import CisternCore
import LMDB
import Locking
import Synchronization

extension Writer {
  /// Gives up all uncommitted writes of the group after an error that prevents further commits.
  func fail(_ commit: inout CommitState, _ error: LMDBError) {
    commit.giveUp(error, as: failure("the staged writes could not be committed", error))
  }

  private func failure(_ message: String, _ error: LMDBError) -> CisternError {
    if let longReader, error.code == .mapFull {
      return CisternError(
        .noSpace, "\(message): \(holding(longReader))", location: engine.directory,
        remedy: "End the long read, for example a body of withBytes")
    }
    if error.code == .noSpace {
      // A higher disk limit would not help.
      return CisternError(
        .noSpace, message, location: engine.directory, cause: error, remedy: "Free space on the device")
    }
    return CisternError(
      error.code == .mapFull ? .noSpace : .diskFailed, message, location: engine.directory, cause: error)
  }

  /// Returns the effect of a reader that keeps pages from reuse.
  func holding(_ reader: ReaderSlot) -> String {
    "a read of process \(reader.process) lasts so long that free space cannot be reused"
  }

  /// Switches to degraded mode after a disk failure: the store works in memory only, and retries the disk later.
  ///
  /// - Parameter error: The diagnosed error. A full device is no failing one.
  func degrade(_ error: LMDBError) {
    let wasActive = engine.mode == .active
    if wasActive { engine.mode = .degraded }
    if engine.mode == .degraded { planRetry(wasActive: wasActive) }
    if wasActive, outages.noteFailure(isFull: error.code == .noSpace) == .send {
      if let longReader, error.code == .mapFull {
        report(
          StoreReport(
            .degraded, "\(holding(longReader)); the store works in memory only until the read ends",
            location: engine.directory))
      } else {
        report(
          StoreReport(
            .degraded, "the disk failed; the store works in memory only, and retries the disk from time to time",
            location: engine.directory, cause: error))
      }
      deliverReports()
    }
    engine.announceRoom()
  }

  /// Notes that the device may lack pages. Linux reports a failed write-through once, and then takes the pages for
  /// written.
  ///
  /// Data pages precede their commit, so only meta pages can be missing. A new commit writes another one.
  func noteLostPages() {
    guard engine.options.durability == .powerCut, let file = engine.file else { return }
    needsNewMetaPage = true
    file.note.distrust(file.environment, engine.claim)
  }

  /// Schedules the next retry of the disk.
  ///
  /// The delay doubles after each scheduled retry that fails, but not after one that a caller requested. If a
  /// reader holds its snapshot, the delay stays: the reader can end at any time, and the check is cheap.
  private func planRetry(wasActive: Bool) {
    guard wasActive || retryCause == .due else { return }
    if longReader != nil { retryDelay = initialRetryDelay }
    let delay = retryDelay
    if longReader == nil, retryCause != .asked {
      retryDelay = min(retryDelay.multipliedReportingOverflow(by: 2).partialValue, initialRetryDelay * 64)
    }
    engine.monitor.withLock { $0.retryAt = monotonicNanoseconds() &+ delay }
  }

  /// Tries whether the disk works again. If it does, commits the staged changes, which include the removals of lost
  /// writes.
  func retry(_ cause: WriterState.RetryCause) {
    retryCause = cause
    defer { retryCause = nil }
    // A caller that begins to wait during this retry must not get its failure. The next retry answers that caller.
    let through = engine.newestTicket
    do throws(LMDBError) {
      try tryDisk()
    } catch {
      // Commits of the time before the failure can wait to be written through. If the device may lack pages, that needs
      // a new commit, which this retry could not make.
      if needsNewMetaPage {
        noteNotSynchronized(error)
      } else if engine.progress.withLock({ $0.hasUnsynchronizedCommits }) {
        synchronize()
      }
      giveUpStaged(through: through, engine.diagnosis(of: error))
      return
    }
    guard engine.file != nil else { return }
    noteChanges()
    engine.monitor.withLock { $0.retryAt = nil }
    deviceRoom.noteRecovery()
    // Failed retries have settled the tickets of changes that are still staged. The next flush must wait for them.
    _ = engine.nextTicket()
    // The mode changes before the commit, so that writes from now on are staged for the disk again.
    engine.mode = .active
    // The test of the disk has written these commits through. A failure of the next ones does not concern them.
    engine.progress.withLock { $0.noteSynchronized() }
    commitStaged()
    guard engine.mode == .active else { return }
    retryDelay = initialRetryDelay
    if outages.noteRecovery() == .send {
      report(StoreReport(.recovered, "the disk works again", location: engine.directory))
    }
  }

  /// Commits an empty change to test whether the disk works, and writes it through if the store promises that.
  private func tryDisk() throws(LMDBError) {
    if engine.file == nil { try openFreshFile() }
    if let reader = longReader, let file = engine.file {
      // A process that ended during its read has left its slot.
      try file.environment.clearStaleReaders()
      guard try !file.environment.readers().contains(reader) else {
        throw LMDBError(
          .mapFull, operation: "commit", message: "a reader of process \(reader.process) still holds its snapshot")
      }
    }
    longReader = nil
    guard let file = engine.file else { return }
    do {
      try advanceTransaction(in: file)
    } catch  where error.code == .panic {
      // After a meta page could not be written, LMDB accepts no transaction until the file is reopened.
      try reopenFile()
      if let file = engine.file { try advanceTransaction(in: file) }
    }
    // A device that takes transactions alone does not work again.
    guard engine.options.durability == .powerCut else { return }
    if let error = synchronize() { throw error }
  }

  /// Commits an empty change, to test whether the disk works.
  func advanceTransaction(in file: DiskFile) throws(LMDBError) {
    try commitSeparately(in: file) { (step, transaction) throws(LMDBError) in
      try step.advanceTransaction(in: &transaction.transaction)
    }
  }

  /// Fails the waiters of all writes up to the ticket, and keeps the store degraded. The changes stay staged.
  private func giveUpStaged(through: CommitTicket, _ error: LMDBError) {
    let failure = failure("the disk still fails; the staged writes are not on disk", error)
    let waiters = engine.progress.withLock { progress in
      progress.note([], through: through, error: failure)
      progress.settle(through: through)
      return progress.makeDurable()
    }
    for waiter in waiters { waiter.resume() }
    degrade(error)
  }

  /// The first delay before a failing disk is tried again, in nanoseconds.
  var initialRetryDelay: UInt64 { max(1, engine.options.retryInterval.clampedNanoseconds) }

  /// Recovers from an error outside of a commit group.
  func recover(from error: LMDBError) {
    let error = engine.diagnosis(of: error)
    switch error.code {
    // The contents of the file are intact. The next retry of the disk reopens the file.
    case .panic: degrade(error)
    case .corrupted, .pageNotFound, .badTransaction, .invalid, .truncated:
      do {
        try replaceFile(because: error)
      } catch {
        degrade(engine.diagnosis(of: error))
      }
    // Other reads can hold all slots of readers, and commits need none.
    case .mapFull, .noSpace, .readersFull, .outOfResources: pauseMaintenance()
    case .closed, .forked: break
    default: degrade(error)
    }
  }
}

extension DiskEngine {
  /// The free bytes of the device, or nil if they are unknown.
  var freeBytes: Int? { options.freeBytes(in: directory) }

  /// Returns the error, or an error with the code `noSpace` if the device is full.
  func diagnosis(of error: LMDBError) -> LMDBError { options.diagnosis(of: error, in: directory) }
}
