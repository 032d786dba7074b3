import CisternCore
import Synchronization

extension DiskEngine {
  /// Begins an invalidation of several partitions. Unlike a batch of writes, it is staged as a whole in every mode.
  func beginInvalidating() -> BatchToken {
    if isInherited { return .withoutDisk }
    return openBatch()
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
