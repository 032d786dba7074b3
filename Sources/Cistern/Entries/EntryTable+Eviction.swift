extension EntryTable {
  /// The sum of the costs of what is held. Takes each shard's lock in turn.
  var memoryCost: Int {
    (0..<shards.count).reduce(0) { sum, index in
      sum + shards.withShard(at: index) { $0.policy.total.cost }
    }
  }
}

extension EntryTable: MemoryTenant {
  /// As if every shard held what one of them does. Takes that one's lock.
  @usableFromInline
  package var estimatedCost: Double {
    let cost = shards.withShard(at: Int.random(in: 0..<shards.count)) { $0.policy.total.cost }
    return Double(cost) * Double(shards.count)
  }

  /// Evicts one entry, from whichever shard has one, beginning anywhere; false where none has.
  @usableFromInline
  package func evictOne() -> Bool {
    let start = Int.random(in: 0..<shards.count)
    for offset in 0..<shards.count {
      let slot = shards.withShard(at: (start + offset) & (shards.count - 1)) { shard in
        let slot = shard.evict(sparing: .none, budget: budget)
        if let slot, case .ready(let held) = slot.entry { evicted(slot.key, held) }
        return slot
      }
      if slot != nil {
        unlocked()
        return true
      }
    }
    return false
  }
}

extension EntryTable {
  /// Takes everything out at once: no look-up sees some of it. Flights in progress are disowned.
  ///
  /// - Parameter commit: run once, inside the critical sections of all shards.
  func clear(commit: () -> Void) {
    // The old tables go outside the locks, with their values.
    var old: [SlotTableBox] = []
    old.reserveCapacity(shards.count)
    shards.withAllShards { shard in
      let total = shard.policy.total
      budget.release(cost: total.cost, count: total.count)
      shard.policy = shard.policy.emptied()
      shard.stampAll()
      let box = SlotTableBox()
      swap(&box.slots, &shard.slots)
      old.append(box)
    } _: {
      commit()
    }
  }

  private final class SlotTableBox {
    var slots = SlotTable<Key, Value>()
  }

  /// The second tier lost a key without being asked to. Where memory still holds it, nothing is lost yet.
  ///
  /// - Parameters:
  ///   - isAbsent: asked inside the critical section: the key may have been written again.
  ///   - commit: run inside it where the key is in neither tier now.
  func departed(_ key: Key, hash: UInt64, isAbsent: () -> Bool, commit: () -> Void) {
    let fingerprint = Self.fingerprint(hash)
    shards.withShard(of: hash) { shard in
      guard isAbsent() else { return }
      shard.stamp(fingerprint)
      guard let number = shard.slots.find(key, fingerprint: fingerprint),
        case .ready(var held) = shard.slots[number].entry
      else { return commit() }
      held.isPersisted = false
      shard.slots[number].entry = .ready(held)
    }
  }
}
