import Eviction
import Locking

extension EntryTable {
  /// The total cost of the values in memory. Reading it takes the locks of the shards one after another.
  var memoryCost: Int {
    (0..<shards.count).reduce(0) { sum, index in
      sum + shards.withShard(at: index) { $0.policy.total.cost }
    }
  }

  /// Evicts entries until their total cost is at most `target`.
  ///
  /// Other threads, or the deinitializers of evicted values, can add entries during the call. These can stay.
  /// Otherwise, the call might never end.
  func trim(toCost target: Int) {
    var excess = memoryCost - max(0, target)
    while excess > 0, let cost = evictAnywhere(for: .cost) { excess -= cost }
    releaseSlots()
  }

  /// Frees room in another shard or another cache. Takes their locks, so the caller must hold no shard's lock.
  ///
  /// If no entry can be evicted, other writers have reserved the room. The function then pauses.
  @inlinable
  func freeRoom(for shortage: Shard<Key, Value>.Shortage) {
    switch shortage {
    case .elsewhere(let shortage): shortage.evictOrPause()
    case .shard(let index, let reason): if evictAnywhere(from: index, for: reason) == nil { ShortPause.wait() }
    }
  }

  /// Evicts one entry from any shard that holds one.
  ///
  /// - Parameters:
  ///   - first: The index of the shard to try first; nil for a random one.
  ///   - reason: The limit for which the entry is evicted.
  /// - Returns: The cost of the evicted entry; nil if no shard holds an entry.
  @inlinable
  @inline(never)
  @discardableResult
  func evictAnywhere(from first: Int? = nil, for reason: EvictionReason) -> Int? {
    let start = first ?? Int.random(in: 0..<shards.count)
    for offset in 0..<shards.count {
      let index = (start + offset) & (shards.count - 1)
      // Released at the end of the iteration, outside the lock.
      var evicted = Shard<Key, Value>.EvictedEntries.nothing
      defer { withExtendedLifetime(evicted) {} }
      let freed = shards.withShard(at: index) { shard -> Int? in
        defer { priorities.note(shard.policy.lowestDensity, of: index) }
        let freed = shard.evict(
          keeping: .none, for: reason, into: &evicted, announcing: isObserved() ? announceEviction : nil)
        if let freed { budget.release(cost: freed, count: 1) }
        return freed
      }
      if let freed {
        deliverChanges()
        return freed
      }
    }
    return nil
  }
}

extension EntryTable {
  /// Evicts the next entry of a shard, if no thread is in the shard and the entry's density is below `density`.
  ///
  /// The caller may be inside the critical section of another shard. Shards are otherwise locked in ascending order,
  /// so this function must not wait.
  ///
  /// - Returns: The cost of the evicted entry, whose room is still reserved; nil if none was evicted.
  @inlinable
  @inline(never)
  func evict(
    inShard index: Int, below density: Float, for reason: EvictionReason,
    into evicted: inout Shard<Key, Value>.EvictedEntries
  ) -> Int? {
    let freed: Int?? = shards.withShardIfAvailable(at: index) { shard in
      defer { priorities.note(shard.policy.lowestDensity, of: index) }
      guard let nominee = shard.policy.nominate(keeping: .none, in: shard.slots.evictionNodes),
        nominee.density < density
      else { return nil }
      // Asked inside this section: an observer may have read the victim since the caller entered its own section.
      return shard.evict(nominee, for: reason, into: &evicted, announcing: isObserved() ? announceEviction : nil)
    }
    return freed ?? nil
  }
}

extension EntryTable: MemoryConsumer {
  /// An estimate of the total cost, from one random shard. Reading it takes that shard's lock.
  @usableFromInline
  package var estimatedCost: Double {
    let cost = shards.withShard(at: Int.random(in: 0..<shards.count)) { $0.policy.total.cost }
    return Double(cost) * Double(shards.count)
  }

  /// Evicts one entry. Returns false if no shard holds one.
  @usableFromInline
  package func evictOne(for reason: EvictionReason) -> Bool { evictAnywhere(for: reason) != nil }

  /// Releases the unused slots of shards that hold few entries.
  ///
  /// - Complexity: O(*n*) for *n* entries in these shards.
  @usableFromInline
  package func releaseSlots() {
    for index in 0..<shards.count {
      shards.withShard(at: index) { shard in
        if shard.slots.isSparse { shard.rebuildSlots() }
      }
    }
  }
}

extension EntryTable {
  /// Handles a record loss: the second tier lost the record of a key. If memory holds the value, the key stays
  /// present.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - acknowledge: Acknowledges the loss, inside the critical section. Takes whether memory holds a value. Returns
  ///     false if the key was written since.
  ///   - decide: Decides on the loss, inside the critical section, if the key was not written since. Takes the value
  ///     that memory holds.
  func applyRecordLoss(
    of key: HashedKey<Key>, acknowledging acknowledge: (_ isInMemory: Bool) -> Bool,
    decide: (CachedValue<Value>?) -> WriteDecision
  ) {
    shards.withShard(of: key.hash) { shard in
      let number = shard.locate(key.key, fingerprint: key.fingerprint, budget: budget)
      let held = number.flatMap { shard.slots[$0].entry.held }
      guard acknowledge(held != nil) else { return }
      let decision = decide(held)
      shard.countAndRaiseVersions(decision, of: key)
      _ = shard.apply(decision, nil, to: key, at: number, budget: budget)
    }
  }
}
