import Eviction

extension EntryTable {
  /// Removes all entries at once. Every look-up sees either all of them or none.
  ///
  /// Flights in progress are disowned. The function takes the shards' tables as a whole. A task destroys the entries
  /// later if there are many.
  ///
  /// - Parameters:
  ///   - isWidened: Whether the clear replaces the removal of the keys that an invalidation concerns.
  ///   - startInBackground: Runs its argument soon, in a task.
  ///   - change: Runs once, inside the critical sections of all shards.
  /// - Complexity: O(*s*) for *s* shards, plus the destruction of a small number of entries.
  @inlinable
  func clear(
    isWidened: Bool = false, startInBackground: (@escaping @Sendable () async -> Void) -> Void,
    whileLocked change: () -> Void
  ) {
    // Allocated before the locks are taken. The old tables and their values are destroyed outside the locks.
    let clearedContents = ClearedContents<Key, Value>(capacity: shards.count)
    var index = 0
    var entryCount = 0
    shards.withAllShards { shard in
      let total = shard.policy.total
      budget.release(cost: total.cost, count: total.count)
      shard.raiseAllVersions(isWidened: isWidened)
      shard.versions.endEdits()
      shard.refreshingCount = 0
      entryCount += shard.slots.count
      clearedContents.take(from: &shard, as: index)
      index += 1
    } _: {
      change()
    }
    // Below this number, destroying the entries costs less than starting a task.
    guard entryCount > 1_000 else { return clearedContents.releaseContents() }
    startInBackground { clearedContents.releaseContents() }
  }
}
