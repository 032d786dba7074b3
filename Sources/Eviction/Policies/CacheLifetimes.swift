import Locking
import Synchronization

/// The observations that all shards of a cache share: the clock, the number of entries, the lifetimes, and the hit
/// densities computed from them.
///
/// Keys are distributed over shards at random, so each shard sees a sample of one workload. A shard that learned from
/// its own sample alone would learn late, or never. Entries of different shards are compared, so their ages must have
/// the same unit.
///
/// Shards read the clock and the densities without a lock. They report insertions and observations in small batches.
/// No shard waits for another one: if one of them is reporting, the others keep their observations until later.
@safe
package final class CacheLifetimes: Sendable {
  /// The number of shards.
  let shardCount: Int
  /// The densities, which are meaningful once ``isLearning`` is true.
  let densities = HitDensities()
  /// The number of insertions into all shards.
  private let insertionCount = Atomic<UInt64>(1)
  /// The number of entries in all shards, as far as the shards have reported it.
  private let reportedEntries = Atomic<Int>(0)
  /// The bit patterns of ``weight`` and of ``evictedDensity``. Written with the lock of `learned` held.
  private let weightBits = Atomic<UInt32>(0)
  private let evictedDensityBits = Atomic<UInt32>(0)
  /// The number of insertions at which the densities are computed again. Written with the lock of `learned` held.
  private let nextComputation = Atomic<UInt64>(never)
  /// The lifetimes; nil until the first eviction. A cache that holds everything has nothing to learn.
  private let learned = Guarded<LearnedLifetimes?>(nil)

  private static let never = UInt64.max

  package init(shardCount: Int) {
    self.shardCount = shardCount
  }

  /// The number of insertions into all shards.
  var insertions: UInt64 { insertionCount.load(ordering: .relaxed) }
  /// The number of entries in all shards, as far as the shards have reported it.
  var entryCount: Int { max(0, reportedEntries.load(ordering: .relaxed)) }
  /// The total weight of the known lifetimes.
  var weight: Float { Float(bitPattern: weightBits.load(ordering: .relaxed)) }
  /// The moving average of the densities of evicted entries.
  var evictedDensity: Float { Float(bitPattern: evictedDensityBits.load(ordering: .relaxed)) }
  /// Whether a shard has evicted an entry.
  var isLearning: Bool { nextComputation.load(ordering: .acquiring) != Self.never }

  /// The number of insertions after which a shard reports. Ages are short in a small cache, so its shards report each
  /// insertion.
  var reportInterval: UInt64 { UInt64(min(max(entryCount / (shardCount * 8), 1), 8)) }

  /// Adds insertions of a shard to the clock and a difference to the number of entries.
  ///
  /// - Returns: The number of insertions into all shards, with the added ones.
  func report(insertions: UInt64, entries difference: Int) -> UInt64 {
    if difference != 0 { reportedEntries.add(difference, ordering: .relaxed) }
    return insertionCount.add(insertions, ordering: .relaxed).newValue
  }

  /// Computes the first densities, if no shard has done so. Takes the lock, once for each shard.
  func beginLearning() {
    learned.withLock { learned in
      guard !isLearning else { return }
      learned = LearnedLifetimes()
      compute(&learned)
    }
  }

  /// Takes over the observations of a shard, and computes the densities if it is time. Does nothing if another shard
  /// is in this function, or if no shard has evicted an entry.
  func take(_ observed: inout ObservedLifetimes) {
    learned.withLockIfAvailable { learned in
      guard isLearning else { return }
      learned?.add(&observed, entryCount: entryCount)
      weightBits.store((learned?.lifetimes.total ?? 0).bitPattern, ordering: .relaxed)
      evictedDensityBits.store((learned?.evictedDensity ?? 0).bitPattern, ordering: .relaxed)
      if insertions >= nextComputation.load(ordering: .relaxed) { compute(&learned) }
    }
  }

  /// Computes the densities, and sets the time of the next computation. Called with the lock of `learned` held.
  ///
  /// The interval grows with the number of entries, within bounds. It is short enough to follow the workload, and long
  /// enough for a negligible cost.
  private func compute(_ learned: inout LearnedLifetimes?) {
    let entryCount = entryCount
    learned?.compute(densities, entryCount: entryCount)
    let interval = UInt64(min(max(entryCount / 8, 128), 1024))
    nextComputation.store(insertions &+ interval, ordering: .releasing)
  }
}
