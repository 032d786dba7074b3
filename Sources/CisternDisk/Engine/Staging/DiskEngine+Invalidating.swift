import CisternCore
import Synchronization

extension DiskEngine {
  /// Begins an invalidation of several partitions. Unlike a batch of writes, it is staged as a whole in every mode.
  func beginInvalidating() -> BatchToken {
    if isInherited { return .withoutDisk }
    return openBatch()
  }

  /// Stages the invalidation.
  ///
  /// If the partition has too many invalidations, all of its records must be removed. The cache does that in the same
  /// critical sections (``TransactionalPartition/mustRemoveAll``). Without a cache, the method does it.
  func stageInvalidation(_ invalidation: Invalidation, of partition: Partition, hasCache: Bool) -> (
    version: InvalidationVersion, ticket: CommitTicket
  ) {
    if isInherited || mode == .closed {
      return (partition.invalidations.invalidationVersion.next(), .zero)
    }
    let (invalidationVersion, change) = partition.stageInvalidation(
      invalidation, limit: limits.invalidationBytes
    ) {
      nextTicket()
    }
    let ticket: CommitTicket
    switch change {
    case .refused where hasCache:
      // Nothing is left to remove while an uncommitted clear hides all records.
      if !partition.clearState.hidesRecords || !partition.staging.isEmpty { requireRemovalOfAll(of: partition) }
      return (invalidationVersion, nextTicket())
    case .refused: return (invalidationVersion, stageRemovalOfAll(of: partition))
    case .added(let added):
      stagedCount.add(1, ordering: .sequentiallyConsistent)
      ticket = added
    case .replaced(let replaced): ticket = replaced
    }
    wakeIfIdle()
    return (invalidationVersion, ticket)
  }

  /// Requires that the cache clears the partition.
  func requireRemovalOfAll(of partition: Partition) {
    // A fork can have copied the partition's lock while it was held.
    if isInherited { partition.clearState.requireClear() } else { partition.requireClear() }
  }

  /// Stages an invalidation in all partitions, except those with these names. Partitions that are not open get it with
  /// the next commit, or when they are opened.
  func stageInvalidation(_ invalidation: Invalidation, exceptIn names: Set<String>, in batch: BatchToken) {
    if isInherited || mode == .closed { return }
    // The order matters: a partition that is opened during this call either finds the pending invalidation, or is among
    // the partitions below.
    let added = unopened.withLock { $0.stage(invalidation, limit: limits.invalidationBytes) }
    if added > 0 { stagedCount.add(added, ordering: .sequentiallyConsistent) }
    if added < 0 { stagedCount.subtract(-added, ordering: .sequentiallyConsistent) }
    for partition in partitions where !names.contains(partition.name) {
      batch.note(stageInvalidation(invalidation, of: partition, hasCache: false).ticket)
    }
    batch.note(nextTicket())
    wakeIfIdle()
  }

  /// Stages the pending invalidations of the whole store in a partition that is about to be opened.
  func stagePending(_ change: UnopenedInvalidations.Change, in partition: Partition) {
    if change.removesAll { _ = stageRemovalOfAll(of: partition) }
    for invalidation in change.invalidations {
      _ = stageInvalidation(invalidation, of: partition, hasCache: false)
    }
  }
}
