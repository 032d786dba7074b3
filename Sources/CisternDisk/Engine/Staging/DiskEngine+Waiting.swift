import CisternCore
import Locking

extension DiskEngine {
  /// Whether more is staged than the limits allow. False unless the disk works, because a wait would not end.
  private var isCrowded: Bool {
    mode == .active
      && (stagedBytes.load(ordering: .relaxed) > limits.stagedBytes
        || stagedCount.load(ordering: .relaxed) > DiskLimits.stagedCount)
  }

  /// Blocks the thread while more is staged than the limits allow.
  ///
  /// A thread for which a writer thread can wait does not block. Its writes exceed the limits instead.
  func waitForRoom() {
    guard !isInherited, isCrowded else { return }
    monitor.change { $0.isFull = true }
    if DiskRegistry.shared.isCallerAwaited { return }
    monitor.wait { state in isCrowded && state.life != .stopped ? nil : () }
  }

  /// Suspends the task while more is staged than the limits allow.
  func waitForRoom() async {
    guard !isInherited, isCrowded else { return }
    await withCheckedContinuation { continuation in
      let isWaiting = monitor.change { state in
        guard isCrowded, state.life != .stopped else { return false }
        state.isFull = true
        state.roomWaiters.append(continuation)
        return true
      }
      if !isWaiting { continuation.resume() }
    }
  }

  /// Waits for room before a write whose commit the caller waits for. Retries a failing disk first.
  func prepareToCommit() async {
    if !isInherited, mode == .degraded {
      // The write itself reports a disk that still fails.
      try? await waitForCommit(nextTicket(), includingEarlier: true)
    }
    await waitForRoom()
  }

  /// Resumes the callers that wait for room, if there is room.
  ///
  /// If more is staged than the limits allow, the writer thread commits again at once instead. The writes that were
  /// staged during its last commit do not request it, because the amount was already above the limit.
  func announceRoom() {
    guard !isCrowded else { return monitor.change { $0.isFull = true } }
    let waiters = monitor.change { state in
      let waiters = state.roomWaiters
      state.roomWaiters = []
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Suspends until a write is committed and as durable as the store promises.
  ///
  /// - Parameters:
  ///   - ticket: The ticket of the write.
  ///   - includesEarlier: Whether to wait for every write up to the ticket.
  /// - Throws: The error of a write that failed, or an error if the store is read-only, or closed without the write.
  func waitForCommit(_ ticket: CommitTicket, includingEarlier includesEarlier: Bool) async throws(CisternError) {
    if isInherited { throw inheritedError("wait for a commit") }
    if ticket == .zero { throw closedError("wait for a commit") }
    if mode == .closed { return try throwUnlessDurable(ticket, includingEarlier: includesEarlier) }
    if mode == .readOnly {
      throw CisternError(.readOnly, "the store is read-only", location: "wait for a commit, \(directory)")
    }
    let error = await withCheckedContinuation { continuation in
      let waiter = CommitProgress.Waiter(ticket: ticket, includesEarlier: includesEarlier, continuation: continuation)
      if let known = progress.withLock({ $0.wait(waiter) }) {
        known.resume()
      } else if monitor.change({
        $0.isCommitRequested = true; return $0.life == .stopped
      }) {
        // The writer thread has ended since, and no longer resumes waiters.
        failWaiters(closedError("wait for a commit"))
      }
    }
    if let error { throw error }
  }

  /// Gives the result of a wait that begins after the close: that of the write if the last commits include it.
  ///
  /// A wait for all earlier writes throws, because the failures since its beginning are not known.
  ///
  /// - Throws: The error of the write, or an error if the store is closed and did not commit it.
  private func throwUnlessDurable(
    _ ticket: CommitTicket, includingEarlier includesEarlier: Bool
  ) throws(CisternError) {
    let (isDurable, failure) = progress.withLock { ($0.isDurable(ticket), $0.failure(of: ticket)) }
    guard isDurable, !includesEarlier else { throw closedError("wait for a commit") }
    if let failure { throw failure }
  }

  /// Suspends until everything staged so far is committed and as durable as the store promises.
  ///
  /// Throws once for the writes that were lost since the last flush, even if the disk works again.
  func flush() async throws(CisternError) {
    if isInherited { throw inheritedError("flush") }
    do throws(CisternError) {
      try await waitForAll()
    } catch {
      unreportedFlushError.withLock { $0 = nil }
      throw error
    }
    if let loss = unreportedFlushError.withLock({ $0.take() }) { throw loss }
  }

  /// Notes a lost write, which the next flush reports.
  func noteFlushError(_ error: @autoclosure () -> CisternError) {
    unreportedFlushError.withLock { if $0 == nil { $0 = error() } }
  }

  /// The error for writes that a failing disk did not take.
  var outageError: CisternError {
    CisternError(
      .diskFailed, "the disk took no writes for some time and works again; values written then are in memory only",
      location: "flush, \(directory)", remedy: "Write these values again if the disk must have them")
  }

  private func waitForAll() async throws(CisternError) {
    switch mode {
    case .closed: throw closedError("flush")
    case .readOnly: return
    // A new ticket makes the writer thread retry the disk before the flush succeeds.
    case .degraded: try await waitForCommit(nextTicket(), includingEarlier: true)
    case .active:
      let newest = newestTicket
      if newest > .zero { try await waitForCommit(newest, includingEarlier: true) }
      // The disk can have failed between the look at the mode and the wait. No waiter gets that failure.
      if mode == .degraded { try await waitForCommit(nextTicket(), includingEarlier: true) }
    }
  }

  /// Makes the next flush detect files that were replaced or removed, even if no write is staged.
  ///
  /// A new ticket makes the flush wait for the writer thread, which follows the files.
  func followFiles() {
    guard !isInherited, mode == .active, let file else { return }
    // A file that cannot be examined is left to the next commit.
    if !claim.isInPlace() || (try? file.isInPlace()) == false { _ = nextTicket() }
  }

  /// Resumes every caller that waits for a commit with the error.
  func failWaiters(_ error: CisternError) {
    for waiter in progress.withLock({ $0.fail(error) }) { waiter.resume() }
  }

  func closedError(_ operation: String) -> CisternError {
    .storeClosed("\(operation), \(directory)")
  }

  private func inheritedError(_ operation: String) -> CisternError {
    CisternError(
      .storeClosed, "the store belongs to the parent of this forked process; open it in this process",
      location: "\(operation), \(directory)")
  }
}
