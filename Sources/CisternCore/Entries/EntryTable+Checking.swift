extension EntryTable {
  /// Recounts the contents and describes each inconsistency and each flight.
  ///
  /// For tests: visits every entry and holds all locks. Callers must be at rest.
  ///
  /// - Returns: The findings; an empty array if the table is consistent and no flight is in progress.
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
          if slot.use.queue == .none { findings.append("\(key) is ready, but in no queue") }
        case .refreshing(let refreshing):
          shardCost += Int(node.cost)
          shardCount += 1
          if slot.use.queue == .none { findings.append("\(key) is refreshing, but in no queue") }
          findings.append("\(key) is refreshing, with \(refreshing.flight.waiterCount) waiters")
        case .inProgress(let flight):
          findings.append("\(key) is in progress, with \(flight.waiterCount) waiters")
          if slot.use.queue != .none { findings.append("\(key) is in progress, but in a queue") }
        }
        if shard.slots.find(key, fingerprint: node.fingerprint) != number {
          findings.append("\(key) has a slot, but the lookup does not find it")
        }
      }
      var refreshing = 0
      shard.slots.forEach { _, slot, _ in if case .refreshing = slot.entry { refreshing += 1 } }
      if refreshing != shard.refreshingCount {
        findings.append("a shard counts \(shard.refreshingCount) refreshing entries, but has \(refreshing)")
      }
      let total = shard.policy.total
      if total != (shardCost, shardCount) {
        findings.append("a shard has cost \(shardCost) in \(shardCount) entries, but its policy states \(total)")
      }
      cost += shardCost
      count += shardCount
    } _: {
      let isExact = budget.hasOneConsumer ? (budget.cost, budget.count) == (cost, count) : true
      if !isExact || budget.cost < cost || budget.count < count {
        findings.append("cost \(cost) in \(count) entries, but \(budget.cost) in \(budget.count) is reserved")
      }
      if cost > budget.costLimit || count > budget.countLimit {
        findings.append("cost \(cost) in \(count) entries exceeds \(budget.costLimit) in \(budget.countLimit)")
      }
    }
    return findings
  }
}
