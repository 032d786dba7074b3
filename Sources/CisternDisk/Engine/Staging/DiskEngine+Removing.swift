import CisternCore
import Synchronization

// Clears, and removals that cannot be committed now. The number of the latter is limited.

extension DiskEngine {
  /// Stages the removal of every record of the partition.
  func stageRemovalOfAll(of partition: Partition) -> CommitTicket {
    if isInherited || mode == .closed {
      partition.clearState.noteClearPerformed()
      return .zero
    }
    let isLoss = partition.clearState.mustClear
    if isLoss { failStagedRecords(of: partition) }
    let (ticket, isFirst, freed) = partition.clear { nextTicket() }
    stagedBytes.subtract(freed.bytes, ordering: .relaxed)
    // The removal itself counts as one staged write, so that the writer thread commits it.
    let change = (isFirst ? 1 : 0) - freed.count
    if change > 0 { stagedCount.add(change, ordering: .sequentiallyConsistent) }
    if change < 0 { stagedCount.subtract(-change, ordering: .sequentiallyConsistent) }
    wakeIfIdle()
    return ticket
  }

  /// Fails the waiters of the staged records of a partition, because a clear that no caller asked for makes them void.
  private func failStagedRecords(of partition: Partition) {
    let records = partition.staging.freshRecords
    if records.isEmpty { return }
    let error = CisternError(
      .diskFailed,
      "the disk tier removed all records of the cache, because too many removals were waiting or its keys could not be listed; the write is in memory only",
      location: "cache \"\(partition.name)\" in \(directory)", remedy: "Write the value again if the disk must have it")
    let batches = Set(records.compactMap(\.batch))
    let ofBatches = batchTickets.withLock { known in batches.compactMap { known[$0] } }
    let tickets = records.flatMap(\.tickets) + ofBatches.map { $0...$0 }
    progress.withLock { progress in
      progress.note(tickets.map { CommitProgress.Failure(tickets: $0, error: error) }, through: .zero, error: nil)
    }
    noteFlushError(error)
  }

  /// Stages a removal that cannot be committed now.
  ///
  /// Above the limit, all records of the partition must be removed instead. The cache does that after its critical
  /// section.
  func stageRemoval(of key: [UInt8], in partition: Partition) -> CommitTicket {
    if partition.noteRemovalByClear(key) { return nextTicket() }
    defer { limitRemovals(in: partition) }
    return stageInPartition(.removal(key: key), in: partition).ticket
  }

  /// Stages a removal under a condition, in every mode. Nil if the key has another record, or none.
  func stageRemoval(
    _ removal: StagedWrite, if condition: RecordCondition, in partition: Partition
  ) -> CommitTicket? {
    if mode == .active { return stageInPartition(removal, if: condition, in: partition) }
    if partition.noteRemovalByClear(removal.key) { return nil }
    guard let ticket = stageInPartition(removal, if: condition, in: partition) else { return nil }
    limitRemovals(in: partition)
    return ticket
  }

  private func limitRemovals(in partition: Partition) {
    if stagedCount.load(ordering: .relaxed) > options.removalLimit { requireRemovalOfAll(of: partition) }
  }
}
