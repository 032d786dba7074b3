import Locking

/// One part of the entry table, behind one lock: entries, their order of eviction, and counters.
///
/// What is taken out is handed to the caller, because a value's end may run code of the user's: it has to happen
/// outside the lock.
@usableFromInline
struct Shard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  @usableFromInline typealias Slots = SlotTable<Key, Value>

  // What a hit reads, in this order, and what it counts where it has the shard alone, fills the lock's own line of memory.
  // Where hits share the shard, nobody writes to that line.
  @usableFromInline var slots = Slots()
  /// The newest of ``invalidations``, as entries carry it.
  @usableFromInline var era = Era()
  @usableFromInline let maximumFrequency: UInt8
  /// Begins with the count of hits, of those that did not share the shard, and of stores; ends with those of evictions, in
  /// one line of memory with what they need of the shard.
  @usableFromInline var counters = ShardCounters()

  @usableFromInline var policy: any EvictionPolicy
  /// Exact, for the few keys on which a write under way depends.
  @usableFromInline var versions = KeyVersions()
  /// Entries that were brought in, for ``ShardStandings``.
  @usableFromInline var turn: UInt32 = 0
  /// Counts writes of all keys at once; a part of each of ``stamps``.
  @usableFromInline var stampOfAll: UInt32 = 0
  /// Entries that hold a value and have a flight under way.
  @usableFromInline var refreshingCount = 0

  /// The invalidations that may concern entries older than ``era``.
  @usableFromInline var invalidations: ShardInvalidations<Key>
  /// The values that writers under way have read.
  @usableFromInline var reads = WatchedReads<Key>()
  /// What an invalidation took out, to be let go of outside the lock by the sweep that follows each.
  @usableFromInline var invalidated: [Slots.Taken] = []

  /// Counts the writes of the keys that share a place here. A value that was read from the second tier may be put into
  /// memory only if no write of its key came between.
  @usableFromInline var stamps = InlineArray<64, UInt32>(repeating: 0)

  init(policy: any EvictionPolicy, invalidations: SharedInvalidations<Key>) {
    self.policy = policy
    self.invalidations = ShardInvalidations(shared: invalidations)
    maximumFrequency = if case .count(let maximum) = policy.hitRule { maximum } else { .max }
  }

  /// What a hit does to its entry's node. Kept as one byte, where two would not fit into the line.
  @inlinable
  @inline(__always)
  var hitRule: HitRule { maximumFrequency == .max ? .tellPolicy : .count(upTo: maximumFrequency) }

  /// Counts what a load came to, of an entry that was in this slot; nil where there was none.
  @inlinable
  mutating func countLoad(_ decision: Entry<Value>.LoadDecision, at number: SlotNumber?, now: MonotonicTime) {
    switch decision {
    case .hit(_, let isStale), .refresh(_, _, let isStale):
      guard let number else { preconditionFailure("nothing is returned of what is not there") }
      recordHit(number)
      if isStale { counters.staleHits += 1 }
      if case .refresh = decision {
        counters.refreshes += 1
        counters.flights += 1
      }
      slots[number].entry.held?.noteUse(at: now)
    case .join: counters.joins += 1
    case .lead: counters.flights += 1
    case .lookBehind, .notCached, .expired: break
    }
  }

  @inlinable
  static func stampIndex(_ fingerprint: UInt32) -> Int { Int(fingerprint >> 26) }

  /// The number of a key's writes so far, with those of others.
  // Mutating: else all of them would be copied, to be looked at.
  @inlinable
  mutating func stamp(of fingerprint: UInt32) -> UInt32 { stampOfAll &+ stamps[Self.stampIndex(fingerprint)] }

  /// Marks a key as written.
  @inlinable
  mutating func stamp(_ fingerprint: UInt32, _ effect: WriteEffect = .upkeep) {
    stamps[Self.stampIndex(fingerprint)] &+= 1
    if !versions.isEmpty { versions.note(effect, on: fingerprint) }
  }

  /// Marks every key as written.
  @inlinable
  mutating func stampAll() {
    stampOfAll &+= 1
    versions.noteRemovalOfAll()
  }

  /// Evicts the policy's choice; nil where there is none but `kept`.
  ///
  /// - Parameters:
  ///   - evicted: takes what goes.
  ///   - isObserved: whether anyone wants to hear of it.
  ///   - announce: called with it first, if so.
  /// - Returns: what it cost. That room is the caller's, to give back or to take over.
  @inlinable
  mutating func evict(
    sparing kept: SlotNumber, budget: MemoryBudget, into evicted: inout Evicted,
    isObserved: Bool = false, announce: (Key, Held<Value>) -> Void = { _, _ in }
  ) -> Int? {
    guard let victim = policy.evict(sparing: kept, in: slots.evictionNodes) else { return nil }
    if budget.isFullByCount { counters.evictionsByCount += 1 } else { counters.evictionsByCost += 1 }
    let freed = Int(slots[node: victim].cost)
    if slots[victim].entry.era != era, var held = slots[victim].entry.held,
      isInvalidated(held, forKey: slots.key(of: victim))
    {
      held.copy = .ended
      slots[victim].entry = slots[victim].entry.replacingHeld(held)
    }
    if isObserved, let held = slots[victim].entry.held { announce(slots.key(of: victim), held) }
    // A flight that was to refresh it goes on, and keeps the slot.
    if case .refreshing(let refreshing) = slots[victim].entry {
      slots[victim].entry = .inProgress(refreshing.flight)
      refreshingCount -= 1
      evicted.append(Slots.Taken(key: nil, entry: .ready(refreshing.held)))
    } else {
      evicted.append(slots.remove(victim))
    }
    return freed
  }

  /// Reserves room for an entry of this cost in the place of what `number` has, evicting others of this shard where
  /// that is right.
  ///
  /// - Parameters:
  ///   - index: which of the table's shards this is.
  ///   - shardCount: the number of these.
  ///   - standings: theirs.
  ///   - evicted: takes what goes.
  ///   - isObserved: whether anyone wants to hear of it.
  ///   - announce: called with it first, if so.
  /// - Returns: nil where the room is reserved; else where it has to come from first.
  @inlinable
  mutating func makeRoom(
    for cost: UInt32, replacing number: SlotNumber?, budget: MemoryBudget, index: Int, shardCount: Int,
    standings: ShardStandings, into evicted: inout Evicted, isObserved: Bool = false,
    announce: (Key, Held<Value>) -> Void = { _, _ in }
  ) -> Shortage? {
    var difference = (cost: Int(cost), count: 1)
    var spared = SlotNumber.none
    if let number, isLinked(number) {
      difference = (Int(cost) - Int(slots[node: number].cost), 0)
      spared = number
    }
    while let level = budget.take(cost: difference.cost, count: difference.count) {
      guard
        level == 0 && budget.hasOneTenant
          || budget.above(level).shouldEvict(own: policy.total.cost, parts: shardCount)
      else { return .elsewhere(budget.above(level)) }
      turn &+= 1
      if let other = standings.worse(than: policy.lowestDensity, of: index, turn: turn) { return .shard(other) }
      guard
        let freed = evict(
          sparing: spared, budget: budget, into: &evicted, isObserved: isObserved, announce: announce)
      else {
        return .elsewhere(budget.above(level))
      }
      // What goes leaves just the room that is needed: nobody else has to hear of it.
      if difference == (freed, 1) { return nil }
      budget.release(cost: freed, count: 1)
    }
    return nil
  }

  /// What made room, to be let go of outside the lock. As a rule one; an array of it would have to be allocated.
  @usableFromInline
  enum Evicted {
    case nothing
    case one(Slots.Taken)
    case several([Slots.Taken])

    @inlinable
    mutating func append(_ taken: consuming Slots.Taken) {
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

  /// Whether a value should be held in memory. What is set always is, and what has a place already; of what is loaded or
  /// read from the second tier, the policy is asked where it is large beside the limit.
  @inlinable
  func admits(
    _ cost: UInt32, at number: SlotNumber?, _ fingerprint: UInt32, _ condition: WriteCondition<Value>,
    _ budget: MemoryBudget
  ) -> Bool {
    guard Int(cost) > budget.largestCost / 16, condition.brings, !(number.map { isLinked($0) } ?? false) else {
      return true
    }
    return policy.admits(fingerprint, cost: cost)
  }

  /// Where room has to come from, when it should not be, or cannot be, from the shard that needs it.
  @usableFromInline
  enum Shortage {
    /// From whoever shares the budget.
    case elsewhere(MemoryBudget)
    /// From another shard of the table.
    case shard(Int)
  }

  /// Lets the state machine decide on an entry, and puts what it decided into effect: the entry enters or leaves the
  /// table, and a value enters or leaves the policy's order. Room for a new value has been made.
  ///
  /// - Returns: what the machine answered, and what is to be let go of outside the lock: the entry as it was, and what
  ///   was taken out, with its key.
  @inlinable
  mutating func transition<Decision>(
    _ key: Key, fingerprint: UInt32, at number: SlotNumber?, cost: UInt32? = nil, budget: MemoryBudget,
    _ decide: (inout Entry<Value>?) -> Decision
  ) -> (decision: Decision, leaving: Entry<Value>?, taken: Slots.Taken?) {
    let before: Entry<Value>? = number.map { slots[$0].entry }
    var after = before
    let decision = decide(&after)
    refreshingCount += (after?.isRefreshing ?? false ? 1 : 0) - (before?.isRefreshing ?? false ? 1 : 0)
    switch (number, after) {
    case (nil, nil):
      break
    case (nil, let entry?):
      if slots.isFull { rebuildSlots() }
      let inserted = slots.insert(key, fingerprint: fingerprint, entry: entry)
      reorder(inserted, isReady: entry.isReady, cost: cost, budget: budget)
    case (let number?, let entry?):
      slots[number].entry = entry
      reorder(number, isReady: entry.isReady, cost: cost, budget: budget)
    case (let number?, nil):
      reorder(number, isReady: false, cost: nil, budget: budget)
      return (decision, before, slots.remove(number))
    }
    return (decision, before, nil)
  }

  /// Gives the entries a new table, and tells the policy their new numbers. O(n).
  @inlinable
  @inline(never)
  mutating func rebuildSlots() {
    let numbers = slots.rebuild(relinking: policy.linksEntries)
    policy.renumber(numbers)
  }

  @inlinable
  func isLinked(_ number: SlotNumber) -> Bool { slots[number].use.queue != .none }

  @inlinable
  mutating func reorder(_ number: SlotNumber, isReady: Bool, cost: UInt32?, budget: MemoryBudget) {
    switch (isLinked(number), isReady) {
    case (false, false):
      break
    case (false, true):
      slots[node: number].cost = cost ?? 0
      policy.insert(number, in: slots.evictionNodes)
    case (true, true):
      // Without a cost the value is the one that was there: its room is as it was reserved.
      if let cost { policy.update(number, cost: cost, in: slots.evictionNodes) }
    case (true, false):
      policy.remove(number, in: slots.evictionNodes)
      budget.release(cost: Int(slots[node: number].cost), count: 1)
    }
  }
}
