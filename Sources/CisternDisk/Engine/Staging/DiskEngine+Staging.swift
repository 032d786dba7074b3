import CisternCore
import Locking
import Synchronization

extension DiskEngine {
  /// Stages the write. See ``SecondTierPartition/stage(_:)``.
  ///
  /// Neither waits for the disk nor runs code of the caller.
  func stage(_ write: StagedWrite, in partition: Partition) -> StagingResult {
    if isInherited { return .refused }
    return stage(write, in: partition, batch: .zero, mode: mode)
  }

  /// Stages the write as a part of the batch. See ``SecondTierPartition/stage(_:in:)``.
  func stage(_ write: StagedWrite, in partition: Partition, batch: BatchToken) -> StagingResult {
    if isInherited { return .refused }
    var mode = mode
    // The mode at the beginning of the batch holds for all of its writes.
    if mode == .active || mode == .degraded { mode = batch.number == .zero ? .degraded : .active }
    let result = stage(write, in: partition, batch: batch.number, mode: mode)
    if case .staged(let ticket) = result { batch.note(ticket) }
    return result
  }

  private func stage(_ write: StagedWrite, in partition: Partition, batch: BatchNumber, mode: Mode) -> StagingResult {
    switch mode {
    case .closed:
      return refuse(partition)
    case .readOnly, .degraded:
      // The older record must not be read again. A staged removal hides it until the removal can be committed.
      let ticket = stageRemoval(of: write.key, in: partition)
      if case .removal = write, mode == .degraded { return .staged(ticket) }
      if mode == .degraded { noteLoss(outageLoss) }
      return refuse(partition)
    case .active:
      if isTooLarge(write) {
        _ = take(.removal(key: write.key), in: partition, batch: batch)
        return refuse(partition)
      }
      let (ticket, isTaken) = take(write, in: partition, batch: batch)
      // Refused if an invalidation concerns the write and is newer than its value.
      return isTaken ? .staged(ticket) : refuse(partition)
    }
  }

  /// Stages the write if the condition holds for the key's record. See ``TransactionalPartition/stage(_:if:)``.
  func stage(_ write: StagedWrite, if condition: RecordCondition, in partition: Partition) -> StagingResult {
    if isInherited || mode == .closed { return refuse(partition) }
    // A removal is staged in every mode, because it hides the record until it can be committed.
    guard case .record(let key, let metadata, _) = write else {
      return stageRemoval(write, if: condition, in: partition) ?? .dropped
    }
    // The record that was read stays.
    guard mode == .active else { return .dropped }
    if isTooLarge(write) {
      _ = take(.removal(key: key), if: condition, in: partition)
      return refuse(partition)
    }
    if let result = take(write, if: condition, in: partition) { return result }
    return partition.invalidations.conceals(metadata, key: key.rawSpan) ? refuse(partition) : .dropped
  }

  private func isTooLarge(_ write: StagedWrite) -> Bool {
    if case .removal = write { return false }
    let size = write.stagedSize
    if size > limits.largestRecord { return true }
    // Each tag adds more than a byte to the size. The metadata of most writes is not copied.
    guard size > Int(UInt16.max), case .record(_, let metadata, _) = write else { return false }
    return metadata.tags.count > Int(UInt16.max)
  }

  private func refuse(_ partition: Partition) -> StagingResult {
    partition.counters.refused.count()
    return .refused
  }

  func take(
    _ write: StagedWrite, in partition: Partition, batch: BatchNumber = .zero
  ) -> (ticket: CommitTicket, isTaken: Bool) {
    let change = partition.stage(write, batch: batch) { nextTicket() }
    note(change)
    return (change.ticket, change.isTaken)
  }

  /// Nil if the key has another record, or none.
  func take(
    _ write: StagedWrite, if condition: RecordCondition, in partition: Partition
  ) -> StagingResult? {
    guard let change = partition.stage(write, if: condition, makeTicket: { nextTicket() }) else { return nil }
    note(change)
    return .staged(change.ticket)
  }

  /// Counts a staged write, and wakes the writer thread if it waits for one.
  private func note(_ change: StagingChange) {
    let bytes = stagedBytes.add(change.addedBytes, ordering: .relaxed)
    let count = stagedCount.add(change.addedCount, ordering: .sequentiallyConsistent)
    let isFull =
      (bytes.oldValue < commitBytes && bytes.newValue >= commitBytes)
      || (count.oldValue < DiskEngine.commitCount && count.newValue >= DiskEngine.commitCount)
    // Batches that join are committed soon, before they become too large for one transaction.
    if isFull || change.joinsBatches {
      monitor.change { $0.isFull = true }
    } else {
      wakeIfIdle()
    }
  }

  /// Wakes the writer thread if it sleeps because nothing is staged.
  func wakeIfIdle() {
    if writerIsIdle.load(ordering: .sequentiallyConsistent) {
      writerIsIdle.store(false, ordering: .relaxed)
      monitor.change { $0.stagedSince = $0.stagedSince ?? monotonicNanoseconds() }
    }
  }

  /// The number of staged bytes that are committed without waiting for the commit interval.
  private var commitBytes: Int { limits.stagedBytes / 4 }
  /// The number of staged writes that are committed without waiting for the commit interval.
  private static let commitCount = 8192

  // MARK: Waiting

  /// Whether more is staged than the limits allow. False unless the disk works, because a wait would not end.
  private var isCrowded: Bool {
    mode == .active
      && (stagedBytes.load(ordering: .relaxed) > limits.stagedBytes
        || stagedCount.load(ordering: .relaxed) > DiskLimits.stagedCount)
  }

  /// Blocks the thread while more is staged than the limits allow.
  func waitForRoom() {
    guard !isInherited, isCrowded else { return }
    monitor.change { $0.isFull = true }
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
  func announceRoom() {
    guard !isCrowded else { return }
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
  /// - Throws: The error of a write that failed, or an error if the store is closed or read-only.
  func waitForCommit(_ ticket: CommitTicket, includingEarlier includesEarlier: Bool) async throws(CisternError) {
    if isInherited { throw inheritedError("wait for a commit") }
    if ticket == .zero || mode == .closed { throw closedError("wait for a commit") }
    if mode == .readOnly {
      throw CisternError(.readOnly, "the store is read-only", location: "wait for a commit, \(directory)")
    }
    let error = await withCheckedContinuation { continuation in
      let waiter = CommitProgress.Waiter(ticket: ticket, includesEarlier: includesEarlier, continuation: continuation)
      if let known = progress.withLock({ $0.wait(waiter) }) {
        known.resume()
      } else if monitor.change({
        $0.isAsked = true; return $0.life == .stopped
      }) {
        // The writer thread has ended since, and no longer resumes waiters.
        failWaiters(closedError("wait for a commit"))
      }
    }
    if let error { throw error }
  }

  /// Suspends until everything staged so far is committed and as durable as the store promises.
  ///
  /// Throws once for the writes that were lost since the last flush, even if the disk works again.
  func flush() async throws(CisternError) {
    if isInherited { throw inheritedError("flush") }
    do throws(CisternError) {
      try await waitForAll()
    } catch {
      unreportedLoss.withLock { $0 = nil }
      throw error
    }
    if let loss = unreportedLoss.withLock({ $0.take() }) { throw loss }
  }

  /// Notes a lost write, which the next flush reports.
  func noteLoss(_ error: @autoclosure () -> CisternError) {
    unreportedLoss.withLock { if $0 == nil { $0 = error() } }
  }

  /// The error for writes that a failing disk did not take.
  var outageLoss: CisternError {
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
    }
  }

  /// Makes the next flush detect files that were replaced or removed, even if no write is staged.
  ///
  /// A new ticket makes the flush wait for the writer thread, which follows the files.
  func followFiles() {
    guard !isInherited, mode == .active, let file else { return }
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

extension StagingResult {
  /// The result for a write that is dropped. Its ticket needs no commit.
  fileprivate static var dropped: StagingResult { .staged(.zero) }
}
