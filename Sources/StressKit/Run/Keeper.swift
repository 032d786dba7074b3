import Cistern
import Locking

/// Looks after the store during a run: its limits, its reopening, its state at the end.
final class Keeper: Sendable {
  private struct Counts {
    var reopenings = 0
    var changes = 0
    var refreshes = 0
  }

  let limits: LimitWatch
  private let workshop: Workshop
  private let holder: SubjectHolder
  private let directory: String
  private let counts = Guarded(Counts())

  init(workshop: Workshop, holder: SubjectHolder, directory: String) {
    self.workshop = workshop
    self.holder = holder
    self.directory = directory
    limits = LimitWatch(
      memoryLimit: workshop.configuration.memoryLimit, diskLimit: workshop.configuration.diskLimit,
      directory: directory, violations: workshop.violations)
  }

  /// How often the store was closed and opened again.
  var reopenings: Int { counts.withLock { $0.reopenings } }

  /// Changes that the witnesses were told of.
  var changeCount: Int { counts.withLock { $0.changes } }

  /// Fetches in the background, while an older value was returned.
  var refreshCount: Int { counts.withLock { $0.refreshes } }

  /// Looks at the limits until it is cancelled.
  func watchLimits() async {
    while !Task.isCancelled {
      limits.look(at: holder.current.store)
      await pause(.milliseconds(20))
    }
  }

  /// Closes and reopens the store every so often, until it is cancelled.
  func reopenNowAndThen() async {
    guard let interval = workshop.configuration.reopenInterval else { return }
    while true {
      await pause(interval)
      guard !Task.isCancelled, !workshop.stop.isRaised else { return }
      await workshop.barrier.close()
      await reopen()
      workshop.barrier.open()
    }
  }

  /// With every client parked.
  private func reopen() async {
    await checkQuietCache()
    await closeSubject()
    do {
      holder.replace(with: try Subject(workshop, directory: directory, isFirst: false))
      counts.withLock { $0.reopenings += 1 }
    } catch {
      workshop.violations.report(.failed, "the store could not be opened again: \(error)")
      workshop.stop.interrupt()
    }
  }

  /// The checks at the end, when every client is done; then closes the store.
  func finish() async {
    await checkQuietCache()
    await closeSubject()
    let fetches = workshop.ledger.count
    if fetches > 0 { workshop.violations.report(.unsound, "\(fetches) fetches are still running at the end") }
  }

  /// What must hold whenever nobody uses the cache: no waiter, no entry in progress, every sum right, and observers
  /// that know what is there.
  private func checkQuietCache() async {
    let subject = holder.current
    limits.look(at: subject.store)
    await untilFetchesEnd()
    for finding in await restingFindings(of: subject.cache) { workshop.violations.report(.unsound, finding) }
    await subject.witness.settle(with: subject.cache)
    await workshop.exercises.settle()
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
      workshop.violations.report(.failed, "the store could not be closed: \(error)")
    }
  }

  /// Fetches whose callers have gone were cancelled, and are given ten seconds to notice.
  private func untilFetchesEnd() async {
    let deadline = Ticks.now() + 10_000_000_000
    while workshop.ledger.count > 0, Ticks.now() < deadline { await pause(.milliseconds(1)) }
  }
}
