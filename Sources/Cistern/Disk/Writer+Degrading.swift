import LMDB
import Synchronization

extension Writer {
  /// The round cannot go on: what is not committed is given up.
  func fail(_ commit: inout Committing, _ error: LMDBError) {
    commit.giveUp(error, as: failure("what was staged could not be committed", error))
  }

  private func failure(_ message: String, _ error: LMDBError) -> CisternError {
    let isSpace = error.code == .noSpace || error.code == .mapFull
    return CisternError(isSpace ? .noSpace : .diskFailed, message, location: engine.directory, cause: error)
  }

  /// The disk fails: goes on in memory only, and tries again later.
  func degrade(_ error: LMDBError) {
    let wasActive = engine.mode == .active
    if wasActive { engine.mode = .degraded }
    if engine.mode == .degraded { planRetry(wasActive: wasActive) }
    if wasActive {
      engine.report(
        .degraded, "the disk failed; the store goes on in memory only, and tries again from time to time",
        cause: error)
    }
    engine.announceRoom()
  }

  /// Says when the disk is tried again. The delay doubles with each failed try that was due, not with one that a caller
  /// asked for. A reader that holds its snapshot ends at any time, and to look for it costs nothing: that delay stays.
  private func planRetry(wasActive: Bool) {
    guard wasActive || retryCause == .due else { return }
    if longReader != nil { retryDelay = initialRetryDelay }
    let delay = retryDelay
    if longReader == nil, retryCause != .asked {
      retryDelay = min(retryDelay.multipliedReportingOverflow(by: 2).partialValue, initialRetryDelay * 64)
    }
    engine.monitor.withLock { $0.retryAt = monotonicNanoseconds() &+ delay }
  }

  /// Tries whether the disk works again, with what is staged: the removals of what could not be written.
  func retry(_ cause: WriterState.RetryCause) {
    retryCause = cause
    defer { retryCause = nil }
    // Whoever asks while this try is already failing is not answered with its failure, but by the next.
    let through = engine.tickets.load(ordering: .sequentiallyConsistent)
    do throws(LMDBError) {
      if engine.file == nil { try openFreshFile() }
      if let reader = longReader, let file = engine.file, try file.environment.readers().contains(reader) {
        throw LMDBError(
          .mapFull, operation: "commit", message: "the reader of process \(reader.process) is still there")
      }
      longReader = nil
      guard let file = engine.file else { return }
      do {
        try tick(in: file)
      } catch  where error.code == .panic {
        // After a meta page that could not be written, LMDB takes no transaction until it is opened again.
        try reopenFile()
        if let file = engine.file { try tick(in: file) }
      }
    } catch {
      giveUpStaged(through: through, engine.diagnosis(of: error))
      return
    }
    noteChanges()
    engine.monitor.withLock { $0.retryAt = nil }
    // Active before the round: what is staged from now on is for the disk again.
    engine.mode = .active
    commitStaged()
    guard engine.mode == .active else { return }
    retryDelay = initialRetryDelay
    ceiling = nil
    engine.report(.recovered, "the disk works again")
  }

  private func tick(in file: DiskFile) throws(LMDBError) {
    try chore(in: file) { (step, transaction) throws(LMDBError) in try step.tick(in: &transaction) }
  }

  private func giveUpStaged(through: UInt64, _ error: LMDBError) {
    let failure = failure("the disk still fails; what was staged is not on it", error)
    let waiters = engine.progress.withLock { progress in
      progress.note([], through: through, error: failure)
      progress.settle(through: through)
      return progress.makeDurable()
    }
    for waiter in waiters { waiter.resume() }
    degrade(error)
  }

  private var initialRetryDelay: UInt64 { max(1, engine.options.retryInterval.clampedNanoseconds) }

  /// Gets over an error outside of a round.
  func recover(from error: LMDBError) {
    let error = engine.diagnosis(of: error)
    switch error.code {
    // Opened again when the disk is tried again: nothing is wrong with what is on it.
    case .panic: degrade(error)
    case .corrupted, .pageNotFound, .badTransaction, .invalid, .truncated:
      do {
        try replaceFile(because: error)
      } catch {
        degrade(error)
      }
    case .mapFull: break
    case .closed, .forked: break
    default: degrade(error)
    }
  }
}

extension DiskEngine {
  /// The error, or that the device is full: LMDB says of a write that the system cut short what it says of one that failed.
  func diagnosis(of error: LMDBError) -> LMDBError {
    guard error.code == .ioError,
      options.faults.isDeviceFull?() ?? DeviceSpace.isExhausted(in: directory)
    else { return error }
    return LMDBError(.noSpace, operation: error.operation, message: "the device has no room for a part of a write")
  }
}
