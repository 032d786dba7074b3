import Locking

extension EntryTable {
  /// Takes everything out at once: no look-up sees some of it. Flights in progress are disowned. O(1): the shards' tables
  /// are taken away whole, and many entries are let go of behind, by a task.
  ///
  /// - Parameters:
  ///   - startBehind: runs what it is given soon, in a task.
  ///   - commit: run once, inside the critical sections of all shards.
  func clear(startBehind: (@escaping @Sendable () async -> Void) -> Void, commit: () -> Void) {
    // The old tables go outside the locks, with their values.
    let remains = Remains<Key, Value>(capacity: shards.count)
    shards.withAllShards { shard in
      let total = shard.policy.total
      budget.release(cost: total.cost, count: total.count)
      shard.stampAll()
      shard.versions.endEdits()
      shard.refreshingCount = 0
      remains.take(from: &shard)
    } _: {
      commit()
    }
    // Few take less time than a task.
    guard remains.entryCount > 1_000 else { return remains.letGo() }
    startBehind { remains.letGo() }
  }
}

/// What is left of a cleared table. Let go of where it is asked to, whoever else still has a reference to this.
@safe
private final class Remains<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable holds: it is filled before anyone else has it, and only let go of then, once.
  private let tables: UnsafeMutablePointer<SlotTable<Key, Value>>
  private var tableCount = 0
  private var learned: [any Sendable] = []
  private(set) var entryCount = 0

  /// Makes room for what is left of so many shards: nothing is allocated under their locks.
  init(capacity: Int) {
    unsafe tables = .allocate(capacity: capacity)
    learned.reserveCapacity(capacity)
  }

  deinit {
    letGo()
    unsafe tables.deallocate()
  }

  /// Takes what a shard holds, under its lock, and leaves an empty one. Called once for each.
  func take(from shard: inout Shard<Key, Value>) {
    entryCount += shard.slots.count
    // In bounds: there is room for all shards.
    unsafe (tables + tableCount).initialize(to: SlotTable())
    unsafe swap(&tables[tableCount], &shard.slots)
    tableCount += 1
    if let rest = shard.policy.removeAll() { learned.append(rest) }
  }

  func letGo() {
    // As many as were taken.
    unsafe tables.deinitialize(count: tableCount)
    tableCount = 0
    learned = []
  }
}
