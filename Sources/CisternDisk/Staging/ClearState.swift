import Synchronization

/// The clear of a partition that a cache must perform, and the clear that is not committed yet.
///
/// The tier does not clear a partition itself, because observers of the cache must learn of it. The cache performs the
/// clear in the critical sections of all its entries.
final class ClearState: Sendable {
  /// Changed under the partition's control lock while the engine is open in this process, so that a clear ends only
  /// requirements from before it.
  private let isClearRequired = Atomic<Bool>(false)
  private let isFileLost = Atomic<Bool>(false)
  /// Changed under the partition's control lock only.
  private let hasUncommittedClear = Atomic<Bool>(false)

  /// Whether the cache must clear the partition, because the tier can keep no more single removals, or cannot list
  /// its keys.
  var mustClear: Bool { isClearRequired.load(ordering: .acquiring) }

  func requireClear() { isClearRequired.store(true, ordering: .releasing) }

  /// Ends the requirement, because the partition was cleared.
  func noteClearPerformed() { isClearRequired.store(false, ordering: .releasing) }

  /// Whether the file with the committed records was replaced, and the cache has not noticed that.
  var hasLostFile: Bool { isFileLost.load(ordering: .acquiring) }

  func noteFileLoss() { isFileLost.store(true, ordering: .releasing) }

  /// Returns whether the loss was not acknowledged before.
  func acknowledgeFileLoss() -> Bool { isFileLost.exchange(false, ordering: .acquiringAndReleasing) }

  /// Whether the committed records are hidden by a clear, until its commit removes them.
  var hidesRecords: Bool { hasUncommittedClear.load(ordering: .acquiring) }

  func noteClear(isCommitted: Bool) { hasUncommittedClear.store(!isCommitted, ordering: .releasing) }
}
