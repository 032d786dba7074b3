extension EntryTable {
  /// The sum of the costs of what is held. Takes each shard's lock in turn.
  var memoryCost: Int {
    (0..<shards.count).reduce(0) { sum, index in
      sum + shards.withShard(at: index) { $0.policy.total.cost }
    }
  }

  /// Evicts until no more than this cost is held. The costs are added up again only when as much has gone as was too
  /// much: what others bring meanwhile has to go, too.
  func trim(toCost target: Int) {
    while true {
      var excess = memoryCost - max(0, target)
      guard excess > 0 else { return giveBackSlots() }
      while excess > 0 {
        guard let cost = evictAnywhere() else { return giveBackSlots() }
        excess -= cost
      }
    }
  }

  /// Evicts one entry, from whichever shard has one, beginning anywhere, or with this one; its cost, or nil where none has.
  @inlinable
  @inline(never)
  @discardableResult
  func evictAnywhere(from first: Int? = nil) -> Int? {
    let start = first ?? Int.random(in: 0..<shards.count)
    for offset in 0..<shards.count {
      let index = (start + offset) & (shards.count - 1)
      // Let go of at the end of the turn, outside the lock.
      var gone = Shard<Key, Value>.Evicted.nothing
      defer { withExtendedLifetime(gone) {} }
      let freed = shards.withShard(at: index) { shard -> Int? in
        defer { standings.note(shard.policy.lowestDensity, of: index) }
        let freed = shard.evict(sparing: .none, budget: budget, into: &gone, isObserved: isObserved()) {
          evicted($0, $1)
        }
        if let freed { budget.release(cost: freed, count: 1) }
        return freed
      }
      if let freed {
        unlocked()
        return freed
      }
    }
    return nil
  }
}

extension EntryTable: MemoryTenant {
  /// As if every shard held what one of them does. Takes that one's lock.
  @usableFromInline
  package var estimatedCost: Double {
    let cost = shards.withShard(at: Int.random(in: 0..<shards.count)) { $0.policy.total.cost }
    return Double(cost) * Double(shards.count)
  }

  /// Evicts one entry; false where there is none.
  @usableFromInline
  package func evictOne() -> Bool { evictAnywhere() != nil }

  /// Gives back the room for entries of shards that hold few of those that they have room for. O(n) for these.
  @usableFromInline
  package func giveBackSlots() {
    for index in 0..<shards.count {
      shards.withShard(at: index) { shard in
        if shard.slots.isSparse { shard.rebuildSlots() }
      }
    }
  }
}

extension EntryTable {
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
      guard let number = shard.locate(key, fingerprint: fingerprint, budget: budget) else { return commit() }
      guard var held = shard.slots[number].entry.held else {
        shard.slots[number].entry.flight?.noteDeparture()
        return commit()
      }
      held.isPersisted = false
      shard.slots[number].entry = shard.slots[number].entry.replacingHeld(held)
    }
  }
}
