import CisternCore
import LMDB

extension DiskEngine {
  /// Ends the engine after its last owner closed.
  ///
  /// The writer thread closes the file. A read-only engine has no writer thread, and closes the file here.
  func stop() {
    if options.isReadOnly {
      mode = .closed
      closeFile()
      monitor.change { $0.life = .stopped }
      DiskRegistry.shared.forget(self)
    } else {
      hasNoOwner.store(true, ordering: .releasing)
      monitor.change { $0.life = .stopping }
    }
  }

  /// Suspends until the writer thread has ended and the file is closed.
  func waitForStop() async {
    await withCheckedContinuation { continuation in
      let hasStopped = monitor.change { state in
        if state.life != .stopped { state.stopWaiters.append(continuation) }
        return state.life == .stopped
      }
      if hasStopped { continuation.resume() }
    }
  }

  /// Synchronizes and closes the file. If no other process has it open, marks it as sound.
  func closeFile() {
    let claim = claim
    defer { claim.leave() }
    longReads.interrupt(.closed)
    guard let file else { return }
    setFile(nil)
    reportIfReplaced(file, claim)
    do {
      try withGate { try close(file, claim) }
    } catch {
      // Without the gate, the file is closed all the same, as at the end of the process. The next opening of an open file would
      // share it. The mark stays as it is.
      if !options.isReadOnly { try? file.environment.synchronize(force: true) }
      try? file.close()
      report(.degraded, "the store could not be closed cleanly; a power cut may lose the last commits", cause: error)
    }
  }

  /// Synchronizes and closes the file inside the gate, and marks it as sound if no other process has it open.
  private func close(_ file: DiskFile, _ claim: DirectoryClaim) throws {
    guard !options.isReadOnly else { return try file.close() }
    var failure: LMDBError?
    do {
      try injectFault(options.faults.atSynchronization(), in: "synchronize")
      try file.environment.synchronize(force: true)
    } catch {
      // The file is closed in any case. Without this error, its mark would say that the device has the commits.
      failure = error
      file.note.distrust(claim)
      claim.noteFailedSynchronization()
    }
    // Without a history, the next opening cannot notice that an older file was restored. It opens the file all the same.
    let history = (try? file.environment.history()) ?? nil
    let fingerprint = file.note.fingerprintAtEnd(of: file.environment, claim)
    try file.close()
    if let failure { throw failure }
    // Another process can have failed to write its commits through.
    guard claim.isAlone(), (try? claim.readMark())?.state != .failed else { return }
    try claim.write(
      BootMark(
        state: .sound, boot: currentBoot(), limit: limits.limit,
        file: MarkedFile(identity: file.identity, fingerprint: fingerprint, history: history)))
  }

  /// Reports that the open files are no longer the ones in the directory.
  ///
  /// The writer thread detects this at each commit. A store that commits nothing detects it when it closes.
  private func reportIfReplaced(_ file: DiskFile, _ claim: DirectoryClaim) {
    if claim.isInPlace() {
      // A file that cannot be examined counts as the one in the directory.
      if (try? file.isInPlace()) != false { return }
      // Another process of this store replaced the file and reported the reason.
      if let mark = try? claim.readMark(), mark.file.identity != file.identity || mark.file.history == nil { return }
    }
    report(
      .filesReplaced, "the store's files were removed or replaced while it was open; its committed values are lost")
  }
}
