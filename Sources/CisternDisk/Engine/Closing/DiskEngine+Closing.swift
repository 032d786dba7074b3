import CisternCore
import LMDB
import Locking

extension DiskEngine {
  /// Ends the engine after its last owner closed.
  ///
  /// The writer thread closes the file. A read-only engine has no writer thread, and closes the file here, or on a new
  /// thread.
  func stop() {
    guard options.isReadOnly else {
      hasNoOwner.store(true, ordering: .releasing)
      monitor.change { $0.life = .stopping }
      return
    }
    mode = .closed
    // The close waits for all readers. This thread can be one, or one for which a reader waits.
    if DiskRegistry.shared.isCallerAwaited, startClosingToRead() { return }
    closeToRead()
  }

  /// Closes a read-only engine on a new thread. Returns false if no thread can be started.
  private func startClosingToRead() -> Bool {
    do {
      try SystemThread.start { self.closeToRead() }
      return true
    } catch {
      return false
    }
  }

  /// Closes a read-only engine.
  private func closeToRead() {
    let reports = closeFile()
    monitor.change { $0.life = .stopped }
    DiskRegistry.shared.forget(self)
    // A handler can open the directory again from here on.
    for report in reports { self.report(report) }
    endStop()
  }

  /// Ends the close after its reports are delivered: resumes the callers that wait for it.
  func endStop() {
    let waiters = monitor.change { state in
      state.hasDeliveredReports = true
      defer { state.stopWaiters = [] }
      return state.stopWaiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Suspends until the file is closed, and the reports of the close are delivered.
  func waitForStop() async {
    await withCheckedContinuation { continuation in
      let hasEnded = monitor.change { state in
        if !state.hasDeliveredReports { state.stopWaiters.append(continuation) }
        return state.hasDeliveredReports
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Synchronizes and closes the file. If no other process has it open, marks it as sound.
  ///
  /// - Returns: The reports of the closing. Deliver them after the registry has forgotten the engine: a handler that
  ///   opens the directory waits for that.
  func closeFile() -> [StoreReport] {
    let claim = claim
    defer { claim.leave() }
    longReads.interrupt(.closed)
    guard let file else { return [] }
    setFile(nil)
    var reports: [StoreReport] = []
    if isReplaced(file, claim) {
      reports.append(
        StoreReport(
          .filesReplaced, "the store's files were removed or replaced while it was open; its committed values are lost",
          location: directory))
    }
    var isInGate = false
    do {
      try withGate {
        isInGate = true
        // An exclusive lock that outlives the gate would keep the next opening from its shared lock.
        defer { claim.leave() }
        try close(file, claim)
      }
    } catch {
      // Without the gate, the file is closed all the same, as at the end of the process. The next opening of an open
      // file would share it. The mark stays as it is, and could not tell of a failed write-through. The system reports
      // the failure once, so the next write-through must get it.
      if !isInGate { try? file.close() }
      reports.append(
        StoreReport(
          .degraded, "the store could not be closed cleanly; a power cut may lose the last commits",
          location: directory, cause: error))
    }
    return reports
  }

  /// Synchronizes and closes the file inside the gate, and marks it as sound if no other process has it open.
  private func close(_ file: DiskFile, _ claim: DirectoryClaim) throws {
    guard !options.isReadOnly else { return try file.close() }
    var failure: LMDBError?
    do {
      try injectFault(options.faults.atSynchronization(), in: LMDBError.synchronizeOperation)
      try file.environment.synchronize(force: true)
    } catch {
      // The file is closed in any case. Without this error, its mark would say that the device has the commits.
      failure = error
      file.note.distrust(file.environment, claim)
      claim.noteFailedSynchronization()
    }
    // Without a history, the next opening cannot notice that an older file was restored. It opens the file all the
    // same.
    let history = (try? file.environment.history()) ?? nil
    let fingerprint = file.note.fingerprintAtEnd(of: file.environment, claim)
    try file.close()
    if let failure { throw failure }
    // Another process can have failed to write its commits through. A mark whose read fails may say that.
    guard claim.isAlone(), let mark = try? claim.readMark(), mark.canBecomeSound else { return }
    // Another process has begun another file. Its mark says which one the directory has.
    if let marked = mark.file.identity, marked != file.identity { return }
    try claim.write(
      BootMark(
        state: .sound, boot: currentBoot(), limit: limits.limit,
        file: MarkedFile(identity: file.identity, fingerprint: fingerprint, history: history)))
  }

  /// Whether the open files are no longer the ones in the directory, and no process has reported this.
  ///
  /// The writer thread detects this at each commit. A store that commits nothing detects it when it closes.
  private func isReplaced(_ file: DiskFile, _ claim: DirectoryClaim) -> Bool {
    guard claim.isInPlace() else { return true }
    // A file that cannot be examined counts as the one in the directory.
    if (try? file.isInPlace()) != false { return false }
    // Another process of this store replaced the file and reported the reason.
    guard let mark = try? claim.readMark() else { return true }
    return mark.file.identity == file.identity && mark.file.history != nil
  }
}
