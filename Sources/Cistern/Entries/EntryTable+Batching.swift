import Locking

/// One key's part of a batch.
struct BatchPart<Key: Hashable & Sendable, Value: Sendable> {
  let key: Key
  let hash: UInt64
  let condition: WriteCondition<Value>
  let effect: WriteEffect
  var edits = EditMark.unchanged
  /// What memory is to hold; nil for nothing.
  var arrival: Arrival<Value>?
}

extension EntryTable {
  /// Room in memory, reserved for a batch before its critical sections: inside them, no other entry can be evicted for it.
  struct Reservation {
    let cost: Int
    let count: Int
  }

  /// Takes from the parts the values that memory could never hold beside those before them.
  ///
  /// - Returns: the room that the others need, and whether they are all.
  func fit(_ parts: inout [BatchPart<Key, Value>]) -> (Reservation, isWhole: Bool) {
    let limit = budget.overallLimit
    var (cost, count) = (0, 0)
    var isWhole = true
    for index in parts.indices {
      guard let arrival = parts[index].arrival else { continue }
      if Int(arrival.cost) <= budget.largestCost, cost + Int(arrival.cost) <= limit.cost, count < limit.count {
        cost += Int(arrival.cost)
        count += 1
      } else {
        parts[index].arrival = nil
        isWhole = false
      }
    }
    return (Reservation(cost: cost, count: count), isWhole)
  }

  /// Reserves room that there can be, evicting others.
  func reserve(_ reservation: Reservation) {
    while let short = budget.reserve(cost: reservation.cost, count: reservation.count) { short.evictSomewhere() }
  }

  func release(_ reservation: Reservation) {
    budget.release(cost: reservation.cost, count: reservation.count)
  }

  /// Puts all parts into effect at once, or none, where the condition of one does not hold: no look-up sees some of
  /// them. Uses up the reservation if it does.
  ///
  /// - Parameters:
  ///   - parts: one for each key, with room reserved for their values.
  ///   - commit: run once inside the critical sections of all keys, before the entries change. Given what memory had of
  ///     each; answers of each whether the second tier holds its new value.
  func writeAll(_ parts: [BatchPart<Key, Value>], commit: ([Held<Value>?], _ era: UInt64) -> [Bool]) -> Bool {
    let byShard = Dictionary(grouping: parts.indices) { shards.index(of: parts[$0].hash) }.sorted { $0.key < $1.key }
    var batch = BatchInEffect(had: Array(repeating: nil, count: parts.count))
    batch.leaving.reserveCapacity(parts.count)
    // What leaves is let go of with `batch`, outside all locks.
    return withShards(byShard[...], parts, &batch, commit)
  }

  private struct BatchInEffect {
    var had: [Held<Value>?]
    /// The newest invalidation that every one of the shards knows of.
    var era = UInt64.max
    var isPersisted: [Bool] = []
    var leaving: [Entry<Value>?] = []
    var slots: [SlotTable<Key, Value>.Slot] = []
  }

  /// Enters the shards in order, checking conditions on the way in; changes the entries on the way out.
  private func withShards(
    _ groups: ArraySlice<(key: Int, value: [Int])>, _ parts: [BatchPart<Key, Value>], _ batch: inout BatchInEffect,
    _ commit: ([Held<Value>?], _ era: UInt64) -> [Bool]
  ) -> Bool {
    guard let group = groups.first else {
      batch.isPersisted = commit(batch.had, batch.era)
      return true
    }
    return shards.withShard(at: group.key) { shard in
      batch.era = min(batch.era, shard.invalidations.newest)
      for index in group.value {
        let part = parts[index]
        let fingerprint = Self.fingerprint(part.hash)
        let entry = shard.locate(part.key, fingerprint: fingerprint, budget: budget).map { shard.slots[$0].entry }
        guard
          Entry.permits(
            part.condition, entry, stamp: shard.stamp(of: fingerprint),
            watched: shard.versions[fingerprint])
        else { return false }
        batch.had[index] = entry?.held
      }
      guard withShards(groups.dropFirst(), parts, &batch, commit) else { return false }
      for index in group.value { put(parts[index], isPersisted: batch.isPersisted[index], into: &shard, &batch) }
      return true
    }
  }

  private func put(
    _ part: BatchPart<Key, Value>, isPersisted: Bool, into shard: inout Shard<Key, Value>,
    _ batch: inout BatchInEffect
  ) {
    let fingerprint = Self.fingerprint(part.hash)
    let number = shard.slots.find(part.key, fingerprint: fingerprint)
    // What was reserved is for the whole of the new value: what the older one had is free, where it is replaced.
    if let number, shard.isLinked(number), part.arrival != nil {
      budget.release(cost: Int(shard.slots[node: number].cost), count: 1)
    }
    shard.stamp(fingerprint, part.effect)
    switch part.edits {
    case .unchanged: break
    case .ended: shard.versions.setEdited(false, fingerprint)
    case .shown(let isSettled, _): shard.versions.setEdited(!isSettled, fingerprint)
    }
    let era = shard.era
    let (_, left, slot) = shard.transition(
      part.key, fingerprint: fingerprint, at: number, cost: part.arrival?.cost ?? 0, budget: budget
    ) { entry in
      Entry.arrive(
        &entry, part.arrival.map { Held(value: $0.value, timing: $0.timing, isPersisted: isPersisted, era: era) })
    }
    batch.leaving.append(left)
    if let slot { batch.slots.append(slot) }
  }
}
