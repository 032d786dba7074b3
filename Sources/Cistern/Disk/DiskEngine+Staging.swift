import Synchronization

extension DiskEngine {
  /// Takes the write; see ``SecondTierPartition/stage(_:)``. Neither waits for the disk nor calls anyone back.
  func stage(_ write: StagedWrite, in partition: Partition) -> StagingResult {
    if isInherited { return .refused }
    return stage(write, in: partition, batch: 0, mode: mode)
  }

  /// Takes the write as a part of the batch; see ``SecondTierPartition/stage(_:in:)``.
  func stage(_ write: StagedWrite, in partition: Partition, batch: BatchToken) -> StagingResult {
    if isInherited { return .refused }
    var mode = mode
    // What it was when the batch was begun, so that all of the batch fares alike.
    if mode == .active || mode == .degraded { mode = batch.number == 0 ? .degraded : .active }
    let result = stage(write, in: partition, batch: batch.number, mode: mode)
    if case .staged(let ticket) = result { batch.note(ticket) }
    return result
  }

  private func stage(_ write: StagedWrite, in partition: Partition, batch: UInt64, mode: Mode) -> StagingResult {
    switch mode {
    case .closed:
      return refuse(partition)
    case .readOnly, .degraded:
      // The older record must not be read again: a removal stands in its place, until it can be written, if ever.
      let ticket = stageRemoval(of: write.key, in: partition)
      if case .removal = write, mode == .degraded { return .staged(ticket) }
      if mode == .degraded { hasUntoldLosses.store(true, ordering: .sequentiallyConsistent) }
      return refuse(partition)
    case .active:
      if case .record(let key, let metadata, _) = write {
        if write.stagedSize > limits.largestRecord || metadata.tags.count > Int(UInt16.max) {
          _ = take(.removal(key: key), in: partition, batch: batch)
          return refuse(partition)
        }
      }
      let (ticket, isTaken) = take(write, in: partition, batch: batch)
      // Invalidated while its value was on its way.
      return isTaken ? .staged(ticket) : refuse(partition)
    }
  }

  /// Takes the invalidation. Where there are more than is kept of them, everything in the partition is removed instead.
  func stageInvalidation(_ invalidation: Invalidation, of partition: Partition) -> (era: UInt64, ticket: CommitTicket) {
    if isInherited || mode == .closed { return (partition.invalidations.era + 1, CommitTicket(number: 0)) }
    let (era, number, change) = partition.stageInvalidation(invalidation, limit: limits.invalidationBytes) {
      nextNumber()
    }
    switch change {
    case .refused: return (era, stageRemovalOfAll(of: partition))
    case .added: stagedCount.add(1, ordering: .sequentiallyConsistent)
    case .replaced: break
    }
    wakeIfIdle()
    return (era, CommitTicket(number: number))
  }

  /// Takes the removal of everything in the partition.
  func stageRemovalOfAll(of partition: Partition) -> CommitTicket {
    if isInherited || mode == .closed { return CommitTicket(number: 0) }
    let (number, isFirst, freed) = partition.removeAll { nextNumber() }
    stagedBytes.subtract(freed.bytes, ordering: .relaxed)
    // One more for the removal itself, which the writer thread is to come for.
    let change = (isFirst ? 1 : 0) - freed.count
    if change > 0 { stagedCount.add(change, ordering: .sequentiallyConsistent) }
    if change < 0 { stagedCount.subtract(-change, ordering: .sequentiallyConsistent) }
    wakeIfIdle()
    return CommitTicket(number: number)
  }

  private func refuse(_ partition: Partition) -> StagingResult {
    partition.counters.refused.count()
    return .refused
  }

  private func take(
    _ write: StagedWrite, in partition: Partition, batch: UInt64 = 0
  ) -> (ticket: CommitTicket, isTaken: Bool) {
    let change = partition.stage(write, batch: batch) { nextNumber() }
    let bytes = stagedBytes.add(change.addedBytes, ordering: .relaxed)
    let count = stagedCount.add(change.addedCount, ordering: .sequentiallyConsistent)
    let isFull =
      (bytes.oldValue < commitBytes && bytes.newValue >= commitBytes)
      || (count.oldValue < DiskEngine.commitCount && count.newValue >= DiskEngine.commitCount)
    // Batches that become one are committed soon, before they are more than one transaction's work.
    if isFull || change.joinsBatches {
      monitor.change { $0.isFull = true }
    } else {
      wakeIfIdle()
    }
    return (CommitTicket(number: change.number), change.isTaken)
  }

  /// Takes a removal that cannot be committed for now. Beyond the bound the whole partition is emptied in its place.
  private func stageRemoval(of key: [UInt8], in partition: Partition) -> CommitTicket {
    if stagedCount.load(ordering: .relaxed) >= DiskLimits.stagedCount { return stageRemovalOfAll(of: partition) }
    return take(.removal(key: key), in: partition).ticket
  }

  func nextNumber() -> UInt64 { tickets.add(1, ordering: .sequentiallyConsistent).newValue }

  /// Wakes the writer thread where it sleeps because nothing was staged.
  private func wakeIfIdle() {
    if writerIsIdle.load(ordering: .sequentiallyConsistent) {
      writerIsIdle.store(false, ordering: .relaxed)
      monitor.change { $0.stagedSince = $0.stagedSince ?? monotonicNanoseconds() }
    }
  }

  /// So much staged is committed without waiting for the interval.
  private var commitBytes: Int { limits.stagedBytes / 4 }
  private static let commitCount = 8192

  // MARK: Waiting

  /// Whether more is staged than should be. Not where waiting would be for ever.
  private var isCrowded: Bool {
    mode == .active
      && (stagedBytes.load(ordering: .relaxed) > limits.stagedBytes
        || stagedCount.load(ordering: .relaxed) > DiskLimits.stagedCount)
  }

  /// Blocks the thread while more is staged than should be.
  func waitForRoom() {
    guard !isInherited, isCrowded else { return }
    monitor.change { $0.isFull = true }
    monitor.wait { state in isCrowded && !state.hasStopped ? nil : () }
  }

  /// Suspends the task while more is staged than should be.
  func waitForRoom() async {
    guard !isInherited, isCrowded else { return }
    await withCheckedContinuation { continuation in
      let isWaiting = monitor.change { state in
        guard isCrowded, !state.hasStopped else { return false }
        state.isFull = true
        state.roomWaiters.append(continuation)
        return true
      }
      if !isWaiting { continuation.resume() }
    }
  }

  /// As `waitForRoom`, for a write whose commit is waited for: a disk that fails is tried again first.
  func prepareToCommit() async {
    if !isInherited, mode == .degraded {
      // Whether it still fails, the write itself tells.
      try? await waitForCommit(number: nextNumber(), countsEarlier: true)
    }
    await waitForRoom()
  }

  /// Lets those go on who waited for room, if there is some.
  func announceRoom() {
    guard !isCrowded else { return }
    let waiters = monitor.change { state in
      let waiters = state.roomWaiters
      state.roomWaiters = []
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when the write of this number, or with `countsEarlier` every one up to it, is committed and as durable as the
  /// store promises.
  func waitForCommit(number: UInt64, countsEarlier: Bool) async throws(CisternError) {
    if isInherited { throw inheritedError("wait for a commit") }
    if number == 0 || mode == .closed { throw closedError("wait for a commit") }
    if mode == .readOnly {
      throw CisternError(.readOnly, "the store is read-only", location: "wait for a commit, \(directory)")
    }
    let error = await withCheckedContinuation { continuation in
      let waiter = CommitProgress.Waiter(number: number, countsEarlier: countsEarlier, continuation: continuation)
      if let known = progress.withLock({ $0.wait(waiter) }) {
        known.resume()
      } else if monitor.change({
        $0.isAsked = true; return $0.hasStopped
      }) {
        // The thread ended in between, and nobody else would answer.
        failWaiters(closedError("wait for a commit"))
      }
    }
    if let error { throw error }
  }

  /// Returns when everything staged so far is committed and as durable as the store promises. What could not be written
  /// since the last flush, because the disk failed, is told of once, even where the disk works again.
  func flush() async throws(CisternError) {
    if isInherited { throw inheritedError("flush") }
    do throws(CisternError) {
      try await waitForAll()
    } catch {
      hasUntoldLosses.store(false, ordering: .sequentiallyConsistent)
      throw error
    }
    guard hasUntoldLosses.exchange(false, ordering: .sequentiallyConsistent) else { return }
    throw CisternError(
      .diskFailed, "the disk failed, and works again; what was written meanwhile is in memory only",
      location: "flush, \(directory)")
  }

  private func waitForAll() async throws(CisternError) {
    switch mode {
    case .closed: throw closedError("flush")
    case .readOnly: return
    // A number of its own, so that the disk is tried again before anyone is told that all is well.
    case .degraded: try await waitForCommit(number: nextNumber(), countsEarlier: true)
    case .active:
      let number = tickets.load(ordering: .sequentiallyConsistent)
      if number > 0 { try await waitForCommit(number: number, countsEarlier: true) }
    }
  }

  /// Makes the next flush look after files that were replaced or removed, also if no write is staged.
  func followFiles() {
    guard !isInherited, mode == .active, let file else { return }
    if !claim.isInPlace() || (try? file.isInPlace()) == false { _ = nextNumber() }
  }

  func failWaiters(_ error: CisternError) {
    for waiter in progress.withLock({ $0.fail(error) }) { waiter.resume() }
  }

  func closedError(_ operation: String) -> CisternError {
    CisternError(.storeClosed, "the store is closed", location: "\(operation), \(directory)")
  }

  private func inheritedError(_ operation: String) -> CisternError {
    CisternError(
      .storeClosed, "the store belongs to the process that this one was forked from; open it anew in this one",
      location: "\(operation), \(directory)")
  }
}
