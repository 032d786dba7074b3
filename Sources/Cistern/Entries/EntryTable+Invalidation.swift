import Locking
import Synchronization

extension EntryTable {
  /// What has one of these tags or keys counts as gone from now on, in all shards at once; nothing is visited.
  ///
  /// - Parameters:
  ///   - add: numbers the invalidation, in the second tier where there is one, and adds it to those that are pending. Run
  ///     once, inside the critical sections of all shards: nobody finds it in one tier and not in the other.
  ///   - concerns: whether it concerns a key with these tags. Called inside the same.
  ///   - commit: run once, inside the same.
  @inlinable
  func invalidate(
    _ add: (inout PendingInvalidations<Key>) -> Void, concerns: (Key, [String]) -> Bool, commit: () -> Void
  ) {
    _ = shards.withAllShards {
      let newest = invalidations.change { pending in
        add(&pending)
        return pending.newest
      }
      newestInvalidation.store(newest, ordering: .releasing)
      commit()
      return newest
    } concluding: { shard, newest in
      shard.noteNewestInvalidation(newest)
      shard.noteInvalidation(where: concerns)
    }
  }

  /// Tells those who joined a flight whether an invalidation concerns what it brings, which is not stored.
  func noteInvalidation(of flight: Flight<Value>, forKey key: Key, hash: UInt64, tags: [String]) {
    shards.withShard(of: hash) { shard in
      if shard.invalidations.concerns(key, tags: tags, since: flight.era) { flight.noteInvalidation() }
    }
  }

  /// The state of the task that sweeps.
  enum Sweeping: UInt8 {
    /// No task runs.
    case idle
    /// It makes a pass, and no invalidation came since that began.
    case running
    /// It has another pass to begin.
    case due
  }

  /// Asks for a sweep of what is invalidated. Returns whether the caller must start the task: at most one sweeps at a time.
  @usableFromInline
  func requestSweep() -> Bool {
    sweeping.exchange(Sweeping.due.rawValue, ordering: .sequentiallyConsistent) == Sweeping.idle.rawValue
  }

  /// Sweeps until no invalidation came since the last pass began.
  @inlinable
  func sweep() async {
    while beginsPass() {
      await sweepOnce()
    }
  }

  /// Whether another pass is due; else the task ends. One step down: from due to running, or from running to idle.
  @usableFromInline
  func beginsPass() -> Bool {
    sweeping.subtract(1, ordering: .sequentiallyConsistent).oldValue == Sweeping.due.rawValue
  }

  /// Visits every entry, a few at a time, releases those that invalidations concern, and forgets the invalidations that nothing
  /// in memory is older than.
  @inlinable
  func sweepOnce() async {
    let target = newestInvalidation.load(ordering: .sequentiallyConsistent)
    var oldest = target
    for index in 0..<shards.count {
      var position = SweepPosition()
      while true {
        let (gone, isDone) = shards.withShard(at: index) { shard -> ([Shard<Key, Value>.Slots.Taken], Bool) in
          let isDone = shard.sweep(&position, budget: budget)
          defer { shard.invalidated = [] }
          return (shard.invalidated, isDone)
        }
        withExtendedLifetime(gone) {}
        if isDone { break }
        await Task.yield()
      }
      oldest = min(oldest, position.oldestFlight)
    }
    unlocked()
    forgetInvalidations(olderThan: oldest, swept: target)
  }

  /// Forgets the invalidations that nothing in memory is older than.
  @usableFromInline
  func forgetInvalidations(olderThan oldest: UInt64, swept: UInt64) {
    let forgetsNothing = shards.withShard(at: 0) { _ in
      invalidations.read { $0.forgetting(olderThan: oldest, swept: swept) == .nothing }
    }
    if forgetsNothing { return }
    let forgotten = shards.withAllShards { _ in
    } _: {
      invalidations.change { $0.forget(olderThan: oldest, swept: swept) }
    }
    withExtendedLifetime(forgotten) {}
  }

  /// The invalidations that are pending, and their size in bytes. For checks.
  var pendingInvalidations: (count: Int, size: Int) {
    shards.withShard(at: 0) { _ in invalidations.read { ($0.count, $0.size) } }
  }
}

/// How far a sweep of a shard has come.
@usableFromInline
struct SweepPosition {
  @usableFromInline var group = 0
  /// The groups there were: after a rebuild, entries are elsewhere, and it begins anew.
  @usableFromInline var groupCount: Int?
  /// The least era among the flights on their way.
  @usableFromInline var oldestFlight = UInt64.max

  /// An invalidation may have to wait for this many to be compared.
  @usableFromInline static let groupsAtOnce = 32

  @usableFromInline
  init() {}
}

extension Shard {
  /// Visits some more entries; whether it has come to the end.
  @inlinable
  mutating func sweep(_ position: inout SweepPosition, budget: MemoryBudget) -> Bool {
    if position.groupCount != slots.groupCount {
      position.group = 0
      position.groupCount = slots.groupCount
    }
    let end = min(position.group + SweepPosition.groupsAtOnce, slots.groupCount)
    for number in slots.numbers(inGroups: position.group..<end) where isCurrent(number, budget: budget) {
      if let flight = slots[number].entry.flight { position.oldestFlight = min(position.oldestFlight, flight.era) }
    }
    position.group = end
    guard end == slots.groupCount else { return false }
    // A flight that lost its entry may be merged under what replaced it.
    position.oldestFlight = min(position.oldestFlight, versions.oldestFlight)
    return true
  }
}
