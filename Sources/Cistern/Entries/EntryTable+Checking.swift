extension EntryTable {
  /// The counters of all shards and what they hold, as of one instant: all locks are held at once. Only misses are counted
  /// without a lock.
  func snapshot() -> Snapshot {
    var snapshot = Snapshot()
    shards.withAllShards { shard in
      snapshot.counters += shard.counters
      let total = shard.policy.total
      snapshot.cost += total.cost
      snapshot.count += total.count
      snapshot.inProgressCount += shard.slots.count - total.count
      snapshot.inProgressCount += shard.refreshingCount
    } _: {
      let totals = shards.readers.totals
      snapshot.counters.memoryHits &+= totals.inside
      snapshot.counters.misses &+= totals.outside
    }
    return snapshot
  }

  /// The keys that memory holds a value of, shard by shard; and those that are being fetched for the first time, if asked for.
  func keys(includingInProgress includesInProgress: Bool = false) -> [Key] {
    var keys: [Key] = []
    for index in 0..<shards.count {
      shards.withShard(at: index) { shard in
        shard.slots.forEach { number, slot, _ in
          if slot.entry.isReady || includesInProgress { keys.append(shard.slots.key(of: number)) }
        }
      }
    }
    return keys
  }

  /// What a table has counted, and what it holds.
  struct Snapshot {
    var counters = ShardCounters()
    /// The cost of the values held.
    var cost = 0
    /// The number of values held.
    var count = 0
    /// The number of entries in progress.
    var inProgressCount = 0
  }

  /// Recounts everything. What does not add up, in words; empty where all is sound. For tests: it visits every entry.
  func findings() -> [String] {
    var findings: [String] = []
    var cost = 0
    var count = 0
    shards.withAllShards { shard in
      var shardCost = 0
      var shardCount = 0
      shard.slots.forEach { number, slot, node in
        let key = shard.slots.key(of: number)
        switch slot.entry {
        case .ready:
          shardCost += Int(node.cost)
          shardCount += 1
          if slot.use.queue == .none { findings.append("\(key) is ready and in no queue") }
        case .refreshing(let refreshing):
          shardCost += Int(node.cost)
          shardCount += 1
          if slot.use.queue == .none { findings.append("\(key) is refreshing and in no queue") }
          findings.append("\(key) is refreshing, with \(refreshing.flight.waiterCount) waiters")
        case .inProgress(let flight):
          findings.append("\(key) is in progress, with \(flight.waiterCount) waiters")
          if slot.use.queue != .none { findings.append("\(key) is in progress and in a queue") }
        }
        if shard.slots.find(key, fingerprint: node.fingerprint) != number {
          findings.append("\(key) has a slot and is not found there")
        }
      }
      var refreshing = 0
      shard.slots.forEach { _, slot, _ in if case .refreshing = slot.entry { refreshing += 1 } }
      if refreshing != shard.refreshingCount {
        findings.append("a shard counts \(shard.refreshingCount) refreshing entries and has \(refreshing)")
      }
      let total = shard.policy.total
      if total != (shardCost, shardCount) {
        findings.append("a shard holds \(shardCost) in \(shardCount) entries, its policy says \(total)")
      }
      cost += shardCost
      count += shardCount
    } _: {
      let isExact = budget.hasOneTenant ? (budget.cost, budget.count) == (cost, count) : true
      if !isExact || budget.cost < cost || budget.count < count {
        findings.append("\(cost) in \(count) entries are held, \(budget.cost) in \(budget.count) are reserved")
      }
      if cost > budget.costLimit || count > budget.countLimit {
        findings.append("\(cost) in \(count) entries: over the limit of \(budget.costLimit) in \(budget.countLimit)")
      }
    }
    return findings
  }
}
