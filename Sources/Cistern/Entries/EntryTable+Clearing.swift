import Locking

extension EntryTable {
  /// Takes everything out at once: no look-up sees some of it. Flights in progress are disowned. O(1): the shards' tables
  /// are taken away whole, and many entries are let go of behind, by a task.
  ///
  /// - Parameters:
  ///   - startBehind: runs what it is given soon, in a task.
  ///   - commit: run once, inside the critical sections of all shards.
  @inlinable
  func clear(startBehind: (@escaping @Sendable () async -> Void) -> Void, commit: () -> Void) {
    // The old tables go outside the locks, with their values; the room for them is not made under these.
    let remains = Remains<Key, Value>(capacity: shards.count)
    var index = 0
    var entryCount = 0
    shards.withAllShards { shard in
      let total = shard.policy.total
      budget.release(cost: total.cost, count: total.count)
      shard.stampAll()
      shard.versions.endEdits()
      shard.refreshingCount = 0
      entryCount += shard.slots.count
      remains.take(from: &shard, as: index)
      index += 1
    } _: {
      commit()
    }
    // Few take less time than a task.
    guard entryCount > 1_000 else { return remains.letGo() }
    startBehind { remains.letGo() }
  }
}

/// What is left of a cleared table. Let go of where it is asked to, whoever else still has a reference to this.
@safe
@usableFromInline
final class Remains<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable holds: it is filled before anyone else has it, and let go of then, once.
  @usableFromInline let parts: UnsafeMutablePointer<Part>
  /// The parts that have not been let go of.
  @usableFromInline var count: Int

  /// What is left of one shard.
  @usableFromInline
  struct Part: ~Copyable {
    @usableFromInline var slots = SlotTable<Key, Value>()
    @usableFromInline var learned: (any Sendable)?

    @inlinable
    init() {}
  }

  /// Makes room for what is left of so many shards.
  @inlinable
  init(capacity: Int) {
    unsafe parts = .allocate(capacity: capacity)
    count = capacity
    for index in 0..<capacity { unsafe (parts + index).initialize(to: Part()) }
  }

  @inlinable
  deinit {
    letGo()
    unsafe parts.deallocate()
  }

  @inlinable
  func letGo() {
    // All were initialised, and these have not been let go of.
    unsafe parts.deinitialize(count: count)
    count = 0
  }

  /// Takes what a shard holds, under its lock, and leaves an empty one. For each index below the capacity.
  @inlinable
  func take(from shard: inout Shard<Key, Value>, as index: Int) {
    unsafe swap(&parts[index].slots, &shard.slots)
    unsafe parts[index].learned = shard.policy.removeAll()
  }
}
