import Locking
import Synchronization

extension EntryTable {
  /// What has one of these tags or keys counts as gone from now on, in all shards at once; nothing is visited.
  ///
  /// - Parameters:
  ///   - add: numbers the invalidation, in the second tier where there is one, and adds it to those that are pending. Run
  ///     once, inside the critical sections of all shards: nobody finds it in one tier and not in the other.
  ///   - commit: run once, inside the same.
  @inlinable
  func invalidate(_ add: (inout PendingInvalidations<Key>) -> Void, commit: () -> Void) {
    invalidationLog.withLock { log in
      _ = shards.withAllShards {
        add(&log)
        newestInvalidation.store(log.newest, ordering: .releasing)
        commit()
        return log
      } concluding: { shard, log in
        shard.invalidations = log
        shard.era = Era(log.newest)
        shard.versions.noteRemovalOfAll()
      }
    }
  }

  /// Tells those who joined a flight whether an invalidation concerns what it brings, which is not stored.
  func noteInvalidation(of flight: Flight<Value>, forKey key: Key, hash: UInt64, tags: [String]) {
    shards.withShard(of: hash) { shard in
      if shard.invalidations.concerns(key, tags: tags, since: flight.era) { flight.noteInvalidation() }
    }
  }

  /// Begins with what another opening of the cache left.
  func adopt(_ pending: PendingInvalidations<Key>) {
    shards.withAllShards { shard in
      shard.invalidations = pending
      shard.era = Era(pending.newest)
    } _: {
    }
  }

  /// Visits every entry, a few at a time, lets go of what invalidations concern, and forgets those that nothing can be
  /// older than any more.
  @inlinable
  func sweep() async {
    isSweepDue.store(false, ordering: .sequentiallyConsistent)
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
    invalidationLog.withLock { log in
      log.forget(upTo: oldest)
      for index in 0..<shards.count { shards.withShard(at: index) { $0.invalidations = log } }
    }
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

  @usableFromInline static let groupsAtOnce = 128

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
    return end == slots.groupCount
  }
}
