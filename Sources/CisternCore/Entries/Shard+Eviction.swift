import Eviction

extension Shard {
  /// Evicts the entry that the policy chooses.
  ///
  /// - Parameters:
  ///   - kept: A slot that is not evicted.
  ///   - reason: The limit for which the entry is evicted.
  ///   - evicted: Receives the evicted entry.
  ///   - announce: Called with the entry before it is removed; nil if the cache has no observers.
  /// - Returns: The cost of the entry; nil if the shard holds no entry except `kept`. The caller releases or takes
  ///   over the reserved room.
  @inlinable
  mutating func evict(
    keeping kept: SlotNumber, for reason: EvictionReason, into evicted: inout EvictedEntries,
    announcing announce: EvictionHandler? = nil
  ) -> Int? {
    guard let victim = policy.evict(keeping: kept, in: slots.evictionNodes) else { return nil }
    return removeEvicted(victim, for: reason, into: &evicted, announcing: announce)
  }

  /// Evicts the entry that the policy nominated. The shard is unchanged since the nomination.
  ///
  /// - Returns: The cost of the entry. The caller releases or takes over the reserved room.
  @inlinable
  mutating func evict(
    _ nominee: Nominee, for reason: EvictionReason, into evicted: inout EvictedEntries,
    announcing announce: EvictionHandler?
  ) -> Int {
    policy.evict(nominee, in: slots.evictionNodes)
    return removeEvicted(nominee.number, for: reason, into: &evicted, announcing: announce)
  }

  /// Removes an entry that the policy has unlinked to evict it. Returns its cost.
  @inlinable
  mutating func removeEvicted(
    _ victim: SlotNumber, for reason: EvictionReason, into evicted: inout EvictedEntries,
    announcing announce: EvictionHandler?
  ) -> Int {
    switch reason {
    case .cost: counters.evictionsByCost += 1
    case .count: counters.evictionsByCount += 1
    }
    let freed = Int(slots[node: victim].cost)
    if slots[victim].entry.invalidationVersion != invalidationVersion, let held = slots[victim].entry.held,
      isInvalidated(held, forKey: slots.key(of: victim))
    {
      // The invalidation was announced. It ends a flight that refreshes the value, too.
      if case .refreshing = slots[victim].entry { refreshingCount -= 1 }
      evicted.append(slots.remove(victim))
      return freed
    }
    if let announce, let held = slots[victim].entry.held { announce(slots.key(of: victim), held) }
    // A flight that refreshes the value continues and keeps the slot.
    if case .refreshing(let refreshing) = slots[victim].entry {
      slots[victim].entry = .inProgress(refreshing.flight)
      refreshingCount -= 1
      evicted.append(Slots.RemovedEntry(key: nil, entry: .ready(refreshing.held)))
    } else {
      evicted.append(slots.remove(victim))
    }
    return freed
  }

  /// Called with the key and the value of an entry that is evicted, inside the critical section.
  @usableFromInline typealias EvictionHandler = @Sendable (Key, CachedValue<Value>) -> Void

  /// The source of room that does not come from the shard that needs it.
  @usableFromInline
  enum Shortage {
    /// Another memory consumer of a budget.
    case elsewhere(MemoryShortage)
    /// Another shard of the table, which evicts for this limit.
    case shard(Int, EvictionReason)
  }

  /// Reserves room for an entry of this cost, and evicts other entries of this shard if needed.
  ///
  /// - Parameters:
  ///   - cost: The cost of the new value.
  ///   - number: The slot whose value is replaced; nil for a new entry.
  ///   - neighborhood: The budget, and the place of this shard among those of its table.
  ///   - evicted: Receives the evicted entries.
  ///   - announce: Called with each entry before it is removed; nil if the cache has no observers.
  /// - Returns: Nil if the room is reserved; otherwise, the source of the missing room.
  @inlinable
  mutating func makeRoom(
    for cost: UInt32, replacing number: SlotNumber?, in neighborhood: ShardNeighborhood<Key, Value>,
    into evicted: inout EvictedEntries, announcing announce: EvictionHandler? = nil
  ) -> Shortage? {
    let budget = neighborhood.budget
    var difference = (cost: Int(cost), count: 1)
    var keptSlot = SlotNumber.none
    if let number, isLinked(number) {
      difference = (Int(cost) - Int(slots[node: number].cost), 0)
      keptSlot = number
    }
    while let exceeded = budget.tryReserve(cost: difference.cost, count: difference.count) {
      guard
        exceeded.level == 0 && budget.hasOneConsumer
          || budget.above(exceeded.level).shouldEvict(own: policy.total.cost, parts: neighborhood.shardCount)
      else { return .elsewhere(budget.shortage(exceeded)) }
      let freed: Int
      switch evictWorst(keeping: keptSlot, for: exceeded.reason, in: neighborhood, into: &evicted, announcing: announce)
      {
      case .freed(let cost): freed = cost
      case .shard(let other): return .shard(other, exceeded.reason)
      case .nothing: return .elsewhere(budget.shortage(exceeded))
      }
      // The evicted entry's room is exactly the room that is needed, so the budget does not change.
      if difference == (freed, 1) { return nil }
      budget.release(cost: freed, count: 1)
    }
    return nil
  }

  /// Evicts the worst entry of this shard, or the one of another shard if that is clearly worse.
  ///
  /// The function never waits for another shard. It evicts its own entry if the other shard is locked. The other shard
  /// announces its eviction itself, if the cache has observers then.
  @inlinable
  mutating func evictWorst(
    keeping kept: SlotNumber, for reason: EvictionReason, in neighborhood: ShardNeighborhood<Key, Value>,
    into evicted: inout EvictedEntries, announcing announce: EvictionHandler?
  ) -> EvictionResult {
    guard neighborhood.shardCount > 1, let own = policy.nominate(keeping: kept, in: slots.evictionNodes) else {
      if let freed = evict(keeping: kept, for: reason, into: &evicted, announcing: announce) { return .freed(freed) }
      // Nothing of this shard can make room, so the caller may wait for the other shard.
      return neighborhood.worse(than: .infinity).map { .shard($0) } ?? .nothing
    }
    if let other = neighborhood.worse(than: own.density),
      let freed = neighborhood.table.evict(inShard: other, below: own.density, for: reason, into: &evicted)
    {
      return .freed(freed)
    }
    return .freed(evict(own, for: reason, into: &evicted, announcing: announce))
  }

  /// The result of ``evictWorst(keeping:for:in:into:announcing:)``.
  @usableFromInline
  enum EvictionResult {
    /// An entry of this cost was evicted. Its room is still reserved.
    case freed(Int)
    /// This shard has no entry to evict. Another shard has one.
    case shard(Int)
    /// No shard has published an entry to evict.
    case nothing
  }

  /// Evicted entries, which the caller releases outside the lock.
  ///
  /// Usually there is one entry, which needs no array and thus no allocation.
  @usableFromInline
  enum EvictedEntries {
    case nothing
    case one(Slots.RemovedEntry)
    case several([Slots.RemovedEntry])

    @inlinable
    var isEmpty: Bool { if case .nothing = self { true } else { false } }

    @inlinable
    mutating func append(_ taken: consuming Slots.RemovedEntry) {
      switch self {
      case .nothing: self = .one(taken)
      case .one(let first): self = .several([first, taken])
      case .several(var all):
        self = .nothing
        all.append(taken)
        self = .several(all)
      }
    }
  }

  /// Admits a value to memory, or rejects it. Returns whether it is admitted.
  ///
  /// The policy decides about fetched, promoted and set values that are large in relation to the limit, and that would
  /// displace others. A value whose entry is already in the eviction order is always admitted, and so is the value of an
  /// edit or a batch.
  @inlinable
  func admit(
    _ cost: UInt32, at number: SlotNumber?, _ fingerprint: UInt32, _ condition: WriteCondition<Value>,
    _ budget: MemoryBudget
  ) -> Bool {
    guard budget.isLarge(cost), !(number.map { isLinked($0) } ?? false) else { return true }
    guard condition.isFetched || condition.isSet && budget.isLargerThanOthers(cost) else { return true }
    if budget.hasRoom(for: cost) { return true }
    return policy.admit(fingerprint, cost: cost)
  }
}
