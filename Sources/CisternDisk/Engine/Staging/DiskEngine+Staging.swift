import CisternCore
import Locking
import Synchronization

extension DiskEngine {
  /// Stages the write. See ``SecondTierPartition/stage(_:)``.
  ///
  /// Neither waits for the disk nor runs code of the caller.
  func stage(_ write: StagedWrite, in partition: Partition) -> StagingResult {
    if isInherited { return .refused }
    return stage(write, in: partition, batch: nil, mode: mode)
  }

  /// Stages the write as a part of the batch. See ``SecondTierPartition/stage(_:in:)``.
  func stage(_ write: StagedWrite, in partition: Partition, batch: BatchToken) -> StagingResult {
    if isInherited { return .refused }
    var mode = mode
    // The mode at the beginning of the batch holds for all of its writes.
    if mode == .active || mode == .degraded { mode = batch.includesDisk ? .active : .degraded }
    let result = stage(write, in: partition, batch: batch.number, mode: mode)
    if case .staged(let ticket) = result { batch.note(ticket) }
    return result
  }

  private func stage(_ write: StagedWrite, in partition: Partition, batch: BatchNumber?, mode: Mode) -> StagingResult {
    switch mode {
    case .closed:
      return refuse(partition)
    case .readOnly, .degraded:
      // The older record must not be read again. A staged removal hides it until the removal can be committed.
      let ticket = stageRemoval(of: write.key, in: partition)
      if case .removal = write, mode == .degraded { return .staged(ticket) }
      if mode == .degraded { noteFlushError(outageError) }
      return refuse(partition)
    case .active:
      if isTooLarge(write) {
        _ = stageInPartition(.removal(key: write.key), in: partition, batch: batch)
        return refuse(partition)
      }
      let (ticket, isStaged) = stageInPartition(write, in: partition, batch: batch)
      // Refused if an invalidation concerns the write and is newer than its value.
      return isStaged ? .staged(ticket) : refuse(partition)
    }
  }

  /// Stages the write if the condition holds for the key's record. See ``TransactionalPartition/stage(_:if:)``.
  func stage(
    _ write: StagedWrite, if condition: RecordCondition, in partition: Partition
  ) -> ConditionalStagingResult {
    if isInherited || mode == .closed { return .init(refuse(partition)) }
    // A removal is staged in every mode, because it hides the record until it can be committed.
    guard case .record(let key, let metadata, _) = write else {
      return stageRemoval(write, if: condition, in: partition).map { .staged($0) } ?? .dropped
    }
    // The record that was read stays.
    guard mode == .active else { return .dropped }
    if isTooLarge(write) {
      _ = stageInPartition(.removal(key: key), if: condition, in: partition)
      return .init(refuse(partition))
    }
    if let ticket = stageInPartition(write, if: condition, in: partition) { return .staged(ticket) }
    return partition.invalidations.conceals(metadata, key: key.rawSpan) ? .init(refuse(partition)) : .dropped
  }

  /// Returns whether the file can never hold a write.
  func isTooLarge(_ write: StagedWrite) -> Bool {
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

  func stageInPartition(
    _ write: StagedWrite, in partition: Partition, batch: BatchNumber? = nil
  ) -> (ticket: CommitTicket, isStaged: Bool) {
    let change = partition.stage(write, batch: batch) { nextTicket() }
    countAndWakeWriter(change)
    return (change.ticket, change.isStaged)
  }

  /// Nil if the key has another record, or none.
  func stageInPartition(_ write: StagedWrite, if condition: RecordCondition, in partition: Partition) -> CommitTicket? {
    guard let change = partition.stage(write, if: condition, makeTicket: { nextTicket() }) else { return nil }
    countAndWakeWriter(change)
    return change.ticket
  }

  /// Counts a staged write, and wakes the writer thread if it waits for one.
  private func countAndWakeWriter(_ change: StagingChange) {
    let bytes = stagedBytes.add(change.addedBytes, ordering: .relaxed)
    let count = stagedCount.add(change.addedCount, ordering: .sequentiallyConsistent)
    let isFull =
      (bytes.oldValue < earlyCommitBytes && bytes.newValue >= earlyCommitBytes)
      || (count.oldValue < DiskEngine.earlyCommitCount && count.newValue >= DiskEngine.earlyCommitCount)
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
  private var earlyCommitBytes: Int { limits.stagedBytes / 4 }
  /// The number of staged writes that are committed without waiting for the commit interval.
  private static let earlyCommitCount = 8192
}
