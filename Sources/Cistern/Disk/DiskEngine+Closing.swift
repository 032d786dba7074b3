import LMDB

extension DiskEngine {
  /// Ends the engine, after its last owner is gone: by the writer thread, or where there is none, here.
  func stop() {
    if options.isReadOnly {
      mode = .closed
      closeFile()
      monitor.change { $0.hasStopped = true }
      DiskRegistry.shared.forget(self)
    } else {
      monitor.change { $0.isStopping = true }
    }
  }

  /// Suspends until the writer thread has ended and the file is closed.
  func waitForStop() async {
    await withCheckedContinuation { continuation in
      let hasStopped = monitor.change { state in
        if !state.hasStopped { state.stopWaiters.append(continuation) }
        return state.hasStopped
      }
      if hasStopped { continuation.resume() }
    }
  }

  /// Writes everything through and closes the file; where nobody else has it open, the mark says that it is sound.
  func closeFile() {
    defer { claim.leave() }
    guard let file else { return }
    setFile(nil)
    var failure: (any Error)?
    do {
      try claim.withGate({ $0 as any Error }) { () throws(any Error) in
        if !options.isReadOnly {
          do {
            try file.environment.synchronize(force: true)
          } catch {
            failure = error
          }
        }
        let stamp = options.isReadOnly ? nil : file.note.stampAtEnd(of: file.environment, claim)
        try file.close()
        if !options.isReadOnly, failure == nil, claim.isAlone() {
          try claim.write(BootMark(state: .sound, boot: presentBoot(), limit: limits.limit, stamp: stamp))
        }
      }
    } catch {
      failure = error
    }
    if let failure {
      report(
        .degraded, "the store could not be closed cleanly; a power cut may lose what was committed last", cause: failure
      )
    }
  }
}
