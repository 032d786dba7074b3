import Locking

/// One part of the entry table, behind one lock: entries, their order of eviction, and counters.
///
/// What is taken out is handed to the caller, because a value's end may run code of the user's: it has to happen
/// outside the lock.
@usableFromInline
struct Shard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  @usableFromInline typealias Slots = SlotTable<Key, Value>

  @usableFromInline var slots = Slots()
  @usableFromInline var policy: any EvictionPolicy
  @usableFromInline let hitRule: HitRule
  @usableFromInline var counters = ShardCounters()
  /// Counts the writes of the keys that share a place here. A value that was read from the second tier may be put into
  /// memory only if no write of its key came between.
  @usableFromInline var stamps = InlineArray<64, UInt32>(repeating: 0)
  /// Exact, for the few keys on which a write under way depends.
  @usableFromInline var versions = KeyVersions()

  @usableFromInline
  init(policy: any EvictionPolicy) {
    self.policy = policy
    hitRule = policy.hitRule
  }

  @usableFromInline
  enum LookUp {
    case hit(Value)
    /// Nothing in memory. The stamp tells later whether that is still so.
    case absent(stamp: UInt32)
    /// A value past its time.
    case expired
  }

  /// The main path: what memory has for a key.
  @inlinable
  mutating func lookUp(_ key: Key, fingerprint: UInt32, at now: MonotonicTime) -> LookUp {
    guard let number = slots.find(key, fingerprint: fingerprint), case .ready(let held) = slots[number].entry else {
      return .absent(stamp: stamps[Self.stampIndex(fingerprint)])
    }
    guard !held.isExpired(at: now) else { return .expired }
    recordHit(number)
    return .hit(held.value)
  }

  @inlinable
  mutating func recordHit(_ number: SlotNumber) {
    counters.memoryHits += 1
    switch hitRule {
    case .count(let maximum):
      if slots[number].use.frequency < maximum { slots[number].use.frequency += 1 }
    case .tellPolicy:
      policy.hit(number, in: slots.evictionNodes)
    }
  }

  @inlinable
  static func stampIndex(_ fingerprint: UInt32) -> Int { Int(fingerprint >> 26) }

  /// Marks a key as written.
  @inlinable
  mutating func stamp(_ fingerprint: UInt32, _ effect: WriteEffect = .upkeep) {
    stamps[Self.stampIndex(fingerprint)] &+= 1
    if !versions.isEmpty { versions.note(effect, on: fingerprint) }
  }

  /// Marks every key as written.
  @inlinable
  mutating func stampAll() {
    for index in stamps.indices { stamps[index] &+= 1 }
    versions.noteRemovalOfAll()
  }

  /// Evicts the policy's choice, giving its room back; nil where there is none but `kept`.
  @inlinable
  mutating func evict(sparing kept: SlotNumber, budget: MemoryBudget) -> Slots.Slot? {
    guard let victim = policy.evict(sparing: kept, in: slots.evictionNodes) else { return nil }
    // Asked before the room is given back.
    if budget.isFullByCount { counters.evictionsByCount += 1 } else { counters.evictionsByCost += 1 }
    budget.release(cost: Int(slots[node: victim].cost), count: 1)
    return slots.remove(victim)
  }

  /// Reserves room for an entry of this cost in the place of what `number` has, evicting others of this shard where
  /// that is right.
  ///
  /// - Parameter shardCount: the number of the table's shards, of which this is one.
  /// - Returns: nil where the room is reserved; else the budget where it has to come from elsewhere first.
  @inlinable
  mutating func makeRoom(
    for cost: UInt32, replacing number: SlotNumber?, budget: MemoryBudget, shardCount: Int,
    evicted: (consuming Slots.Slot) -> Void
  ) -> MemoryBudget? {
    var difference = (cost: Int(cost), count: 1)
    var spared = SlotNumber.none
    if let number, isLinked(number) {
      difference = (Int(cost) - Int(slots[node: number].cost), 0)
      spared = number
    }
    while let short = budget.reserve(cost: difference.cost, count: difference.count) {
      guard short.shouldEvict(own: policy.total.cost, parts: shardCount),
        let slot = evict(sparing: spared, budget: budget)
      else { return short }
      evicted(slot)
    }
    return nil
  }

  /// Lets the state machine decide on an entry, and puts what it decided into effect: the entry enters or leaves the
  /// table, and a value enters or leaves the policy's order. Room for a new value has been made.
  ///
  /// - Returns: what the machine answered, and what is to be let go of outside the lock: the entry as it was, and the slot
  ///   that was taken out, with its key.
  @inlinable
  mutating func transition<Decision>(
    _ key: Key, fingerprint: UInt32, at number: SlotNumber?, cost: UInt32? = nil, budget: MemoryBudget,
    _ decide: (inout Entry<Value>?) -> Decision
  ) -> (decision: Decision, leaving: Entry<Value>?, slot: Slots.Slot?) {
    let before: Entry<Value>? = number.map { slots[$0].entry }
    var after = before
    let decision = decide(&after)
    switch (number, after) {
    case (nil, nil):
      break
    case (nil, let entry?):
      if slots.isFull { policy.renumber(slots.rebuild()) }
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
