/// What the writer thread waits for. Guarded by the engine's monitor.
struct WriterState: Sendable {
  /// When the oldest write that is not taken yet was staged, in monotonic nanoseconds; nil where none is.
  var stagedSince: UInt64?
  /// Once so much is staged that it should be committed without waiting for the interval.
  var isFull = false
  /// Once someone waits for a commit.
  var isAsked = false
  /// Once there are records to purge, or damaged ones to remove.
  var hasChores = false
  /// When to try again, where the disk failed.
  var retryAt: UInt64?
  /// Once the last owner closed the store.
  var isStopping = false
  /// Once the thread has ended.
  var hasStopped = false
  /// Tasks that wait for room in staging.
  var roomWaiters: [CheckedContinuation<Void, Never>] = []
  /// Tasks that wait for the thread to end.
  var stopWaiters: [CheckedContinuation<Void, Never>] = []

  /// What to do next.
  enum Duty {
    case commit
    case chores
    case retry(RetryCause)
    case stop
  }

  /// Why a failing disk is tried again.
  enum RetryCause {
    /// The time for it has come.
    case due
    /// A caller waits for a commit.
    case asked
  }

  /// What the writer thread should do at `now`; else, until when to wait.
  mutating func duty(now: UInt64, stagedCount: Int, interval: UInt64) -> Waiting<Duty> {
    if isStopping { return .done(.stop) }
    if let retryAt {
      guard isAsked || now >= retryAt else { return .waiting(until: retryAt) }
      isAsked = false
      return .done(.retry(now >= retryAt ? .due : .asked))
    }
    if isAsked || isFull {
      isAsked = false
      isFull = false
      stagedSince = nil
      return .done(.commit)
    }
    if stagedCount > 0 {
      let since = stagedSince ?? now
      stagedSince = since
      let (due, overflow) = since.addingReportingOverflow(interval)
      if !overflow, now >= due {
        stagedSince = nil
        return .done(.commit)
      }
      if hasChores {
        hasChores = false
        return .done(.chores)
      }
      return .waiting(until: overflow ? nil : due)
    }
    stagedSince = nil
    if hasChores {
      hasChores = false
      return .done(.chores)
    }
    return .waiting(until: nil)
  }
}
