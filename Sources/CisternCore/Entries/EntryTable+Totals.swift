extension EntryTable {
  /// Returns the counters and the contents of all shards at one instant, because it holds all locks at once.
  ///
  /// Only the count of misses can change during the call, because it is counted without a lock.
  func totals() -> Totals {
    var result = Totals()
    shards.withAllShards { shard in
      result.counters += shard.counters
      let total = shard.policy.total
      result.cost += total.cost
      result.count += total.count
      result.inProgressCount += shard.slots.count - total.count
      result.inProgressCount += shard.refreshingCount
    } _: {
      let totals = shards.readers.totals
      result.counters.memoryHits &+= totals.inside
      // A late hit counted a miss before.
      result.misses = totals.outside &- result.counters.lateHits
    }
    return result
  }

  /// Returns the keys of some entries, one shard after another. An invalidated entry counts until it is removed.
  ///
  /// - Parameter isIncluded: Whether the result includes the key of an entry; by default, if memory holds its value.
  ///   Called under locks.
  /// - Returns: The keys, in no particular order.
  func keys(where isIncluded: (Entry<Value>) -> Bool = { $0.holdsValue }) -> [Key] {
    var keys: [Key] = []
    for index in 0..<shards.count {
      shards.withShard(at: index) { shard in
        shard.slots.forEach { number, slot, _ in
          if isIncluded(slot.entry) { keys.append(shard.slots.key(of: number)) }
        }
      }
    }
    return keys
  }

  /// The counters and the contents of a table at one instant.
  struct Totals {
    var counters = ShardCounters()
    /// The number of lookups that neither tier answered.
    var misses = 0
    /// The total cost of the values in memory.
    var cost = 0
    /// The number of values in memory.
    var count = 0
    /// The number of entries that have a flight, including entries that hold a value.
    var inProgressCount = 0
  }
}
