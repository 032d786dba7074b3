import Cistern
import CisternTesting

/// A second tier of a seeded trial, with the steps that a trial controls.
protocol TrialTier: SecondTier {
  /// The gate at which writers wait for space in staging.
  var room: Gate { get }
  /// Installs a hook that runs after each read, outside the tier's lock.
  func setAfterLoad(_ hook: (@Sendable (_ key: [UInt8]) -> Void)?)
  /// Commits all staged writes.
  func commitAll()
  /// Evicts a committed record without a newer staged write.
  func evictRecord(of key: String, in partition: String)
  /// Reports all record losses on the calling thread.
  func deliverLosses()
  /// Returns the committed bytes of a key.
  func committedBytes(of key: String, in partition: String) -> [UInt8]?
  /// Returns a tier with the state that a process finds after this process ends without a flush.
  func afterCrash() -> any TrialTier
}

extension FaultInjectingTier: TrialTier {
  func commitAll() { commit() }

  func evictRecord(of key: String, in partition: String) { evict(key, from: partition) }

  func committedBytes(of key: String, in partition: String) -> [UInt8]? { committedBytes(forKey: key, in: partition) }

  func afterCrash() -> any TrialTier { reopenedAfterCrash() }
}

extension CacheKind {
  /// Creates the second tier of a seeded trial; nil for a kind without one.
  func makeTier(commits mode: FaultInjectingTier.CommitMode, executor: (any TaskExecutor)?) -> (any TrialTier)? {
    if !hasSecondTier { return nil }
    return isOwn
      ? OwnTier(isExact: !widensRemovals, commits: mode, taskExecutor: executor)
      : FaultInjectingTier(commits: mode, taskExecutor: executor)
  }
}
