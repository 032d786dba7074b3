import Cistern
import Locking

/// The supervisor of the store during a run: it checks limits, reopens the store, and checks the state at the end.
final class StoreSupervisor: Sendable {
  private struct Counts {
    var reopenings = 0
    var changes = 0
    var refreshes = 0
    /// Whether the subject is open. If a reopening fails, the former subject stays closed.
    var isOpen = true
  }

  let limits: LimitWatch
  private let runState: RunState
  private let holder: SubjectHolder
  private let directory: String
  private let counts = Guarded(Counts())

  init(runState: RunState, holder: SubjectHolder, directory: String) {
    self.runState = runState
    self.holder = holder
    self.directory = directory
    limits = LimitWatch(
      memoryLimit: runState.configuration.memoryLimit, diskLimit: runState.configuration.diskLimit,
      directory: directory, violations: runState.violations)
  }

  /// The number of times that the store was closed and reopened.
  var reopenings: Int { counts.withLock { $0.reopenings } }

  /// The number of changes that the witnesses received.
  var changeCount: Int { counts.withLock { $0.changes } }

  /// The number of background refreshes.
  var refreshCount: Int { counts.withLock { $0.refreshes } }

  /// Checks the limits repeatedly until the task is cancelled.
  func watchLimits() async {
    while !Task.isCancelled {
      limits.look(at: holder.current.store)
      await pause(.milliseconds(20))
    }
  }

  /// Closes and reopens the store at the configured interval until the task is cancelled.
  func reopenNowAndThen() async {
    guard let interval = runState.configuration.reopenInterval else { return }
    while true {
      await pause(interval)
      guard !Task.isCancelled, !runState.stop.isRaised else { return }
      await runState.barrier.close()
      await reopen()
      runState.barrier.open()
    }
  }

  /// Checks the store, closes it and reopens it. All clients must be parked.
  func reopen() async {
    // In a separate task, because the end of the run cancels the caller. A cancelled enumeration would look incomplete.
    await Task {
      await checkQuietCache()
      await closeSubject()
      do {
        holder.replace(with: try Subject(runState, directory: directory, isFirst: false))
        counts.withLock { $0.reopenings += 1 }
      } catch {
        counts.withLock { $0.isOpen = false }
        runState.violations.report(.failed, "the store could not be reopened: \(error)")
        runState.stop.end()
      }
    }.value
  }

  /// Performs the final checks, and closes the store. All clients must have finished.
  func finish() async {
    // A closed cache has no values, so every check of it would fail.
    guard counts.withLock({ $0.isOpen }) else { return }
    await checkQuietCache()
    await closeSubject()
    let fetches = runState.ledger.count
    if fetches > 0 { runState.violations.report(.unsound, "\(fetches) fetches are still running at the end") }
  }

  /// Checks the invariants of an idle cache: no waiter, no flight, correct sums, and observers that agree with the
  /// contents.
  private func checkQuietCache() async {
    let subject = holder.current
    limits.look(at: subject.store)
    await untilFetchesEnd()
    for finding in await restingFindings(of: subject.cache) { runState.violations.report(.unsound, finding) }
    await subject.witness.settle(with: subject.cache)
    await runState.exercises.settle()
    limits.look(at: subject.store)
    counts.withLock { counts in
      counts.changes += subject.witness.changeCount
      counts.refreshes += subject.cache.statistics.refreshes
    }
  }

  private func closeSubject() async {
    do {
      try await holder.current.close()
    } catch {
      runState.violations.report(.failed, "the store could not be closed: \(error)")
    }
  }

  /// Waits for the end of cancelled fetches.
  private func untilFetchesEnd() async {
    let start = ContinuousClock.now
    while runState.ledger.count > 0, ContinuousClock.now - start < restingPatience { await pause(.milliseconds(1)) }
  }
}
