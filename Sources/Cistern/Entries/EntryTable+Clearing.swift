import Locking

extension EntryTable {
  /// Takes everything out at once: no look-up sees some of it. Flights in progress are disowned. O(1): the shards' tables
  /// are taken away whole, and many entries are let go of behind, by a task.
  ///
  /// - Parameters:
  ///   - taskExecutor: where that task runs; nil for the global pool.
  ///   - commit: run once, inside the critical sections of all shards.
  func clear(taskExecutor: (any TaskExecutor)?, commit: () -> Void) {
    // The old tables go outside the locks, with their values.
    var old: [ClearedShard<Key, Value>] = []
    old.reserveCapacity(shards.count)
    var count = 0
    shards.withAllShards { shard in
      let total = shard.policy.total
      budget.release(cost: total.cost, count: total.count)
      count += shard.slots.count
      shard.stampAll()
      shard.versions.endEdits()
      shard.refreshingCount = 0
      old.append(ClearedShard(takenFrom: &shard))
    } _: {
      commit()
    }
    // Few take less time than a task.
    guard count > 1_000 else { return }
    let cleared = Guarded(old)
    old = []
    let remains = Remains(shards: cleared)
    Task.detached(executorPreference: taskExecutor, priority: .utility) { remains.letGo() }
  }
}

/// What a shard held when it was cleared: on its way out.
private final class ClearedShard<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable holds: it is never read, only let go of, and all that is in it was taken out of its shard under the lock.
  private var slots = SlotTable<Key, Value>()
  private var policy: any EvictionPolicy

  init(takenFrom shard: inout Shard<Key, Value>) {
    policy = shard.policy.emptied()
    swap(&policy, &shard.policy)
    swap(&slots, &shard.slots)
  }
}

/// What is left of a cleared table. Let go of where it is asked to, whoever else still has a reference to this.
private final class Remains<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let shards: Guarded<[ClearedShard<Key, Value>]>

  init(shards: consuming Guarded<[ClearedShard<Key, Value>]>) {
    self.shards = shards
  }

  func letGo() {
    _ = shards.withLock { shards in
      let all = shards
      shards = []
      return all
    }
  }
}
