import Eviction
import Locking
import Synchronization

extension EntryTable {
  /// The state of the task that sweeps.
  enum SweepState: UInt8 {
    /// No task runs.
    case idle
    /// A task makes a pass, and no invalidation came since the pass began.
    case running
    /// Another pass must begin.
    case due
  }

  /// Requests a sweep of invalidated entries. At most one task sweeps at a time.
  ///
  /// - Returns: Whether the caller must start the task.
  @usableFromInline
  func requestSweep() -> Bool {
    sweeping.exchange(SweepState.due.rawValue, ordering: .sequentiallyConsistent) == SweepState.idle.rawValue
  }

  /// Sweeps until no invalidation came since the last pass began.
  @inlinable
  func sweep() async {
    while beginPassIfDue() {
      await sweepOnce()
    }
  }

  /// Begins another pass if one is due. Otherwise the task ends.
  ///
  /// The state moves one step down: from due to running, or from running to idle.
  ///
  /// - Returns: Whether a pass begins.
  @usableFromInline
  func beginPassIfDue() -> Bool {
    sweeping.subtract(1, ordering: .sequentiallyConsistent).oldValue == SweepState.due.rawValue
  }

  /// Visits every entry, a few at a time, and releases the entries that invalidations concern.
  ///
  /// Then forgets the invalidations that are older than everything in memory.
  @inlinable
  func sweepOnce() async {
    let target = newestInvalidation.load(ordering: .sequentiallyConsistent)
    var oldest = target
    for index in 0..<shards.count {
      var position = SweepPosition()
      while true {
        let (invalidated, isDone) = shards.withShard(at: index) {
          shard -> ([Shard<Key, Value>.Slots.RemovedEntry], Bool) in
          let isDone = shard.sweep(&position, budget: budget)
          defer { shard.invalidated = [] }
          return (shard.invalidated, isDone)
        }
        withExtendedLifetime(invalidated) {}
        if isDone { break }
        await Task.yield()
      }
      oldest = min(oldest, position.oldestFlight)
    }
    deliverChanges()
    forgetInvalidations(olderThan: oldest, swept: target)
  }
}

/// The position of a sweep in a shard.
@usableFromInline
struct SweepPosition {
  @usableFromInline var group = 0
  /// The version of the table when the sweep began. If the table is rebuilt, entries move, and the sweep starts again.
  @usableFromInline var tableVersion: Int?
  /// The shard's invalidation version when the sweep began.
  @usableFromInline var began = InvalidationVersion.zero
  /// The lowest invalidation version among the flights in progress.
  @usableFromInline var oldestFlight = InvalidationVersion.max

  /// The number of groups that the sweep visits in one critical section. It bounds the time that other threads wait.
  ///
  /// Each new start doubles it, so that a sweep ends however often the table is rebuilt.
  @usableFromInline var groupsAtOnce = 32

  @usableFromInline
  init() {}
}

extension Shard {
  /// Visits the next groups of entries. Returns whether the sweep reached the end of the shard.
  @inlinable
  mutating func sweep(_ position: inout SweepPosition, budget: MemoryBudget) -> Bool {
    if position.tableVersion != tableVersion {
      if position.tableVersion != nil { position.groupsAtOnce *= 2 }
      position.group = 0
      position.tableVersion = tableVersion
      position.began = invalidations.newest
    }
    let end = min(position.group + position.groupsAtOnce, slots.groupCount)
    for number in slots.numbers(inGroups: position.group..<end) where !removeIfInvalidated(number, budget: budget) {
      if let flight = slots[number].entry.flight {
        position.oldestFlight = min(position.oldestFlight, flight.invalidationVersion)
      }
    }
    position.group = end
    guard end == slots.groupCount else { return false }
    comparedVersion = max(comparedVersion, position.began)
    // A flight that lost its entry may still be merged under the newer value. A read in progress is compared, too.
    position.oldestFlight = min(position.oldestFlight, versions.oldestRead)
    return true
  }
}
