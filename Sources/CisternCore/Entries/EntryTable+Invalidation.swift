import Eviction
import Synchronization

extension EntryTable {
  /// Invalidates all entries with a tag or a prefix, in all shards at once. Visits no entry.
  ///
  /// - Parameters:
  ///   - add: Assigns the invalidation version, in the second tier if there is one, and adds the invalidation to the
  ///     pending ones. Runs once, inside the critical sections of all shards, so that both tiers agree for every
  ///     writer.
  ///   - concerns: Returns whether the invalidation concerns a key with these tags. Called inside the same critical
  ///     sections.
  ///   - change: Runs once, inside the same critical sections. Returns the effects on other state than the entries.
  @inlinable
  func invalidate(
    _ add: (inout PendingInvalidations<Key>) -> Void, concerns: (Key, [String]) -> Bool,
    whileLocked change: () -> InvalidationEffects<Key, Value>
  ) {
    var index = shards.count
    _ = shards.withAllShards {
      let newest = invalidations.change { pending in
        add(&pending)
        return pending.newest
      }
      newestInvalidation.store(newest, ordering: .releasing)
      return (newest, change())
    } concluding: { shard, result in
      let (newest, effects) = result
      shard.noteNewestInvalidation(newest, budget: budget)
      shard.noteInvalidation(where: concerns)
      index -= 1
      for key in effects.endedEdits where shards.index(of: key.hash) == index {
        shard.versions.setEdited(false, key)
      }
      if let loss = effects.loss { apply(loss, in: &shard, at: index) }
    }
  }

  /// Marks a flight as invalidated if an invalidation since its start concerns its value. The value is not stored.
  ///
  /// Waiters that joined the flight after the invalidation then load again.
  func noteInvalidation(of flight: Flight<Value>, for key: HashedKey<Key>, tags: [String]) {
    shards.withShard(of: key.hash) { shard in
      if shard.invalidations.concerns(key.key, tags: tags, since: flight.invalidationVersion) {
        flight.noteInvalidation()
      }
    }
  }

  /// Forgets the invalidations that are older than everything in memory.
  ///
  /// - Parameters:
  ///   - oldest: An invalidation version. No entry and no flight is older.
  ///   - swept: An invalidation version. No entry is older.
  @usableFromInline
  func forgetInvalidations(olderThan oldest: InvalidationVersion, swept: InvalidationVersion) {
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

  /// The number of pending invalidations, and their size in bytes. For checks.
  var pendingInvalidations: (count: Int, size: Int) {
    shards.withShard(at: 0) { _ in invalidations.read { ($0.count, $0.size) } }
  }

  /// Returns whether an invalidation that is newer than a version concerns a value.
  func isInvalidated(
    _ value: CachedValue<Value>, of key: HashedKey<Key>, since invalidationVersion: InvalidationVersion
  ) -> Bool {
    shards.withShard(of: key.hash) { shard in
      shard.invalidations.concerns(key.key, tags: value.timing.tags, since: invalidationVersion)
    }
  }
}
