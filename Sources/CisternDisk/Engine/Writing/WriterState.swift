import CisternCore
import Locking

/// The state that the writer thread waits on. The engine's monitor guards it.
struct WriterState: Sendable {
  /// The time at which the oldest pending write was staged, in monotonic nanoseconds; nil if no write is pending.
  var stagedSince: UInt64?
  /// Whether enough is staged to commit before the commit interval ends.
  var isFull = false
  /// Whether a caller waits for a commit.
  var isCommitRequested = false
  /// Whether maintenance is due: records to purge, or damaged records to remove.
  var needsMaintenance = false
  /// The time before which maintenance does not run, in monotonic nanoseconds; nil if it can run at once.
  ///
  /// A file that had no room for the last attempt would otherwise be tried without a pause.
  var maintenancePausedUntil: UInt64?
  /// Whether a reader has found a defect of the file. Its replacement needs no room in it, so a pause does not delay
  /// maintenance.
  var needsRepair = false
  /// The number of commits since the last maintenance, while maintenance is due.
  private var commitsBeforeMaintenance = 0
  /// The time of the next retry of a failing disk, in monotonic nanoseconds; nil if the disk works.
  var retryAt: UInt64?
  var life = Life.running
  /// Whether the engine is closed, and the reports of the close are delivered.
  var hasDeliveredReports = false
  /// The tasks that wait for room in the staging area.
  var roomWaiters: [CheckedContinuation<Void, Never>] = []
  /// The tasks that wait until the reports of the close are delivered.
  var stopWaiters: [CheckedContinuation<Void, Never>] = []

  /// The life of the writer thread.
  enum Life {
    case running
    /// The last owner has closed the store. The thread commits the staged changes, and ends.
    case stopping
    /// The thread has ended, and resumes no waiter.
    case stopped
  }

  /// The next duty of the writer thread.
  enum Duty {
    case commit
    case maintenance
    case retry(RetryCause)
    case stop
  }

  /// The reason to retry a failing disk.
  enum RetryCause {
    /// The retry delay has passed.
    case due
    /// A caller waits for a commit.
    case asked
  }

  /// The number of commits in sequence after which due maintenance has its turn.
  ///
  /// Callers that wait for one commit after another would delay the purge of invalidated records without end.
  static let commitsInSequence = 16

  /// Whether the next staged write changes the time until which the thread waits.
  var awaitsWrite: Bool { stagedSince == nil && retryAt == nil }

  /// Returns the duty of the writer thread at `now`, or the time until which to wait. Clears the flags of the
  /// returned duty.
  mutating func takeDuty(now: UInt64, stagedCount: Int, interval: UInt64) -> WaitAnswer<Duty> {
    if life == .stopping { return .done(.stop) }
    if let retryAt {
      guard isCommitRequested || now >= retryAt else { return .waiting(until: retryAt) }
      isCommitRequested = false
      return .done(.retry(now >= retryAt ? .due : .asked))
    }
    let commitTime = commitTime(now: now, stagedCount: stagedCount, interval: interval)
    let isCommitDue = isCommitRequested || isFull || (commitTime.map { now >= $0 } ?? false)
    let canPause = needsMaintenance && !needsRepair
    let pauseEnd = canPause ? maintenancePausedUntil.flatMap { now < $0 ? $0 : nil } : nil
    let isMaintenanceDue = needsMaintenance && pauseEnd == nil
    if isMaintenanceDue, !isCommitDue || commitsBeforeMaintenance >= WriterState.commitsInSequence {
      needsMaintenance = false
      needsRepair = false
      maintenancePausedUntil = nil
      commitsBeforeMaintenance = 0
      return .done(.maintenance)
    }
    guard isCommitDue else { return .waiting(until: [commitTime, pauseEnd].compactMap(\.self).min()) }
    if isMaintenanceDue { commitsBeforeMaintenance += 1 }
    isCommitRequested = false
    isFull = false
    stagedSince = nil
    return .done(.commit)
  }

  /// Returns the time at which the commit interval of the staged writes ends; nil without a staged write or an end.
  private mutating func commitTime(now: UInt64, stagedCount: Int, interval: UInt64) -> UInt64? {
    stagedSince = stagedCount > 0 ? stagedSince ?? now : nil
    let (time, overflow) = (stagedSince ?? 0).addingReportingOverflow(interval)
    return stagedSince == nil || overflow ? nil : time
  }
}
