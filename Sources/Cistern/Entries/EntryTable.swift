import Locking
import Synchronization

/// The entries of one cache: the only place where an entry is. What is in progress and what memory holds are the same
/// slots, so that a look-up, a join and a registration are one critical section.
///
/// Storage around ``Entry``: it locks a shard, asks the state machine, puts the answer into effect, unlocks, and lets
/// go of what went. Knows neither disk nor observers: whoever calls passes a closure that is run inside the critical
/// section, so that what it stages and records is in the order of the entries' changes.
@usableFromInline
final class EntryTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let shards: ShardArray<Key, Value>
  @usableFromInline let keyHash = KeyHash()
  @usableFromInline let standings: ShardStandings
  @usableFromInline let budget: MemoryBudget
  @usableFromInline let waiterCounts = WaiterCounts()
  /// The number of the newest invalidation: what begins to be fetched or read now is not older.
  @usableFromInline let newestInvalidation: Atomic<UInt64>
  /// Every invalidation that may concern an entry; the shards have copies. Locked before any shard, never after one.
  @usableFromInline let invalidationLog: Guarded<PendingInvalidations<Key>>
  /// Whether a sweep is to come that has not begun.
  @usableFromInline let isSweepDue = Atomic<Bool>(false)
  /// Whether anyone wants to hear of entries that make room for others: asked first, since it is not generic, and compiled
  /// for all keys and values at once.
  @usableFromInline let announcesEvictions: @Sendable () -> Bool
  /// Called inside the critical section for each entry that makes room for others, if somebody does.
  @usableFromInline let evicted: @Sendable (Key, Held<Value>) -> Void
  /// Called after entries made room for those of another cache: what was recorded can be delivered.
  @usableFromInline let unlocked: @Sendable () -> Void

  init(
    shardCount: Int, policy: EvictionPolicyKind, budget: MemoryBudget, newestInvalidation: UInt64 = 0,
    announcesEvictions: @escaping @Sendable () -> Bool = { false },
    evicted: @escaping @Sendable (Key, Held<Value>) -> Void = { _, _ in },
    unlocked: @escaping @Sendable () -> Void = {}
  ) {
    shards = ShardArray(count: shardCount, policy: policy)
    standings = ShardStandings(count: shardCount)
    self.budget = budget
    self.newestInvalidation = Atomic(newestInvalidation)
    let pending = PendingInvalidations<Key>(newest: newestInvalidation)
    invalidationLog = Guarded(pending)
    self.announcesEvictions = announcesEvictions
    self.evicted = evicted
    self.unlocked = unlocked
    if newestInvalidation > 0 { adopt(pending) }
  }

  deinit {
    // Who shares the budget may outlive this.
    for index in 0..<shards.count {
      let total = shards.withShard(at: index) { $0.policy.total }
      budget.release(cost: total.cost, count: total.count)
    }
  }

  /// A key's hash, computed once for shard, slot and ghost. Another in each process.
  @inlinable
  func hash(_ key: Key) -> UInt64 { keyHash.of(key) }

  @inlinable
  static func fingerprint(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash) }

  /// What memory has for a key. Takes one lock, moves and allocates nothing.
  @inlinable
  func lookUp(
    _ key: Key, hash: UInt64, at now: MonotonicTime, accepting demand: Demand? = nil
  ) -> Shard<Key, Value>.LookUp {
    shards.withShard(of: hash) {
      $0.lookUp(key, fingerprint: Self.fingerprint(hash), at: now, accepting: demand, budget: budget)
    }
  }

  /// Whether memory can hold a value of this cost at all.
  @inlinable
  func canHold(_ cost: UInt32) -> Bool { Int(cost) <= budget.largestCost }
}

extension EntryTable {
  /// What memory holds for a key, expired or not, without counting it as a use.
  @inlinable
  func peek(_ key: Key, hash: UInt64) -> Held<Value>? {
    shards.withShard(of: hash) { shard in
      guard let number = shard.locate(key, fingerprint: Self.fingerprint(hash), budget: budget),
        let held = shard.slots[number].entry.held
      else { return nil }
      return held
    }
  }
}

// MARK: Loading

extension EntryTable {
  /// Hits, joins or leads: one critical section.
  @inlinable
  func load(
    _ key: Key, hash: UInt64, at now: MonotonicTime, accepting demand: Demand = .standard, priority: TaskPriority,
    makeFlight: () -> Flight<Value>
  ) -> Entry<Value>.LoadDecision {
    let fingerprint = Self.fingerprint(hash)
    // A flight that was abandoned, and everything that its task holds, goes outside the lock.
    var replaced: Entry<Value>?
    defer { withExtendedLifetime(replaced) {} }
    let decision = shards.withShard(of: hash) { shard -> Entry<Value>.LoadDecision in
      let number = shard.locate(key, fingerprint: fingerprint, budget: budget)
      if let number, demand == .standard, case .ready(let held) = shard.slots[number].entry,
        case .plain(let deadline) = held.timing
      {
        // Nothing changes yet: a transition would weigh it anew.
        guard now < deadline else { return .expired }
        shard.recordHit(number)
        return .hit(held.value, isStale: false)
      }
      if let number, demand.fetches, case .inProgress(let flight) = shard.slots[number].entry,
        case .joined(let waiter, let raised) = flight.join(Urgency(priority))
      {
        // Nor does this change the entry.
        shard.counters.joins += 1
        return .join(flight, waiter: waiter, raiseTo: raised, instead: nil)
      }
      let decision: Entry<Value>.LoadDecision
      (decision, replaced, _) = shard.transition(key, fingerprint: fingerprint, at: number, budget: budget) { entry in
        Entry.load(&entry, at: now, accepting: demand, priority: priority, makeFlight: makeFlight)
      }
      shard.countLoad(decision, at: number, now: now)
      return decision
    }
    if case .join(let flight, _, let raised?, _) = decision { flight.work.raise(to: raised) }
    return decision
  }

  /// Runs `body`, which removes what the second tier has for the key, inside the critical section while the entry is
  /// the flight's own; whether it was. Counts as a write: what was read there before is not put into memory.
  @inlinable
  @discardableResult
  func whileOwn(_ flight: Flight<Value>, forKey key: Key, hash: UInt64, _ body: () -> Void) -> Bool {
    shards.withShard(of: hash) { shard in
      let number = shard.slots.find(key, fingerprint: Self.fingerprint(hash))
      guard Entry.isOwn(flight, number.map { shard.slots[$0].entry }) else { return false }
      shard.stamp(Self.fingerprint(hash))
      body()
      return true
    }
  }

  /// A flight ends with nothing to publish. Whether the entry was its own, and is absent now.
  @inlinable
  @discardableResult
  func end(_ flight: Flight<Value>, forKey key: Key, hash: UInt64, retryFrom: MonotonicTime? = nil) -> Bool {
    let fingerprint = Self.fingerprint(hash)
    return shards.withShard(of: hash) { shard in
      let number = shard.slots.find(key, fingerprint: fingerprint)
      return shard.transition(key, fingerprint: fingerprint, at: number, budget: budget) { entry in
        Entry.end(flight, &entry, retryFrom: retryFrom)
      }
    }.decision
  }
}

// MARK: Writing

extension EntryTable {
  /// Counts something of a key's.
  @inlinable
  func count(_ hash: UInt64, _ body: (inout ShardCounters) -> Void) {
    shards.withShard(of: hash) { body(&$0.counters) }
  }
}

/// What a write puts in the place of an entry.
@usableFromInline
struct Arrival<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let cost: UInt32
  @usableFromInline let timing: Timing

  @inlinable
  init(value: Value, cost: UInt32, timing: Timing) {
    self.value = value
    self.cost = cost
    self.timing = timing
  }

  /// Whether it is past its lifetime.
  @inlinable
  func isStale(at now: MonotonicTime) -> Bool {
    if case .stale = timing.freshness(at: now) { true } else { false }
  }
}

extension EntryTable {
  /// Replaces what a key has by a value, or by nothing; whether the condition held.
  ///
  /// - Parameters:
  ///   - arrival: the value; nil, or one dearer than any room there could be, leaves nothing in memory.
  ///   - effect: what the write means for those who began something before it.
  ///   - edits: what the write means for the key's unconfirmed edits.
  ///   - isNeeded: whether memory is to hold the value if it can, and its policy is not asked.
  ///   - count: run once, inside the critical section, whether or not the condition holds; where it does, after `commit`.
  ///   - commit: run once inside the critical section, if the condition holds, after room was found and before the
  ///     entry changes. Given what memory had, whether it will hold the new value, and the number of the newest
  ///     invalidation, which the value is newer than; answers whether the second tier holds the new value.
  @inlinable
  @discardableResult
  func write(
    _ arrival: Arrival<Value>?, forKey key: Key, hash: UInt64, if condition: WriteCondition<Value> = .always,
    effect: WriteEffect = .replacement, edits: EditMark = .unchanged, isNeeded: Bool = false,
    count: (inout ShardCounters) -> Void = { _ in },
    commit: (_ had: Held<Value>?, _ isHeld: Bool, _ era: UInt64) -> Bool
  ) -> Bool {
    let fingerprint = Self.fingerprint(hash)
    // Let go of at the end, outside the lock.
    var replaced: Entry<Value>?
    var removed: Shard<Key, Value>.Slots.Slot?
    var evictedSlot: Shard<Key, Value>.Slots.Slot?
    // As a rule there is one; an array of it would have to be allocated.
    var otherEvictedSlots: [Shard<Key, Value>.Slots.Slot] = []
    defer { withExtendedLifetime((replaced, removed, evictedSlot, otherEvictedSlots)) {} }
    let holds = arrival.map { canHold($0.cost) } ?? false
    while true {
      var short: Shard<Key, Value>.Shortage?
      let result = shards.withShard(of: hash) { shard -> Bool? in
        let number = shard.locate(key, fingerprint: fingerprint, budget: budget)
        let entry = number.map { shard.slots[$0].entry }
        let era = condition.era ?? shard.invalidations.newest
        // What was fetched or read before an invalidation that concerns it has come too late. First, because those who
        // joined a flight have to know also where it has lost its entry.
        if let arrival, era < shard.invalidations.newest,
          shard.invalidations.concerns(key, tags: arrival.timing.tags, since: era)
        {
          condition.flight?.noteInvalidation()
          count(&shard.counters)
          return false
        }
        guard
          Entry.permits(
            condition, entry, stamp: shard.stamp(of: fingerprint),
            watched: shard.versions.isEmpty ? nil : shard.versions[fingerprint])
        else {
          count(&shard.counters)
          return false
        }
        let holds =
          holds
          && (isNeeded
            || arrival.map { shard.admits($0.cost, at: number, fingerprint, condition, budget) } ?? false)
        if holds, let arrival {
          short = shard.makeRoom(
            for: arrival.cost, replacing: number, budget: budget, index: shards.index(of: hash),
            shardCount: shards.count, standings: standings
          ) { slot in
            if announcesEvictions(), let held = slot.entry.held { evicted(slot.key, held) }
            if evictedSlot == nil { evictedSlot = slot } else { otherEvictedSlots.append(slot) }
          }
          guard short == nil else { return nil }
        }
        let isPersisted = commit(entry?.held, holds, shard.invalidations.newest)
        count(&shard.counters)
        shard.stamp(fingerprint, effect)
        var keepsFlight = false
        switch edits {
        case .unchanged: break
        case .ended: shard.versions.setEdited(false, fingerprint)
        case .shown(let isSettled, let keeps):
          shard.versions.setEdited(!isSettled, fingerprint)
          keepsFlight = keeps
        }
        let newestEra = shard.era
        (_, replaced, removed) = shard.transition(
          key, fingerprint: fingerprint, at: number, cost: arrival?.cost ?? 0, budget: budget
        ) { entry in
          if case .expired = condition { return Entry.lose(&entry) }
          let held = arrival.map {
            Held(value: $0.value, timing: $0.timing, isPersisted: isPersisted, era: newestEra)
          }
          Entry.arrive(&entry, holds ? held : nil, keepsFlight: keepsFlight)
        }
        // After the value is in its place: what is large may have to go next, for the sake of any shard.
        if holds { standings.note(shard.policy.lowestDensity, of: shards.index(of: hash)) }
        return true
      }
      if let result { return result }
      // The room that is needed is held by other shards or caches, whose locks must not be taken inside this one's.
      switch short {
      case .elsewhere(let budget): budget.evictSomewhere()
      case .shard(let index): evictAnywhere(from: index)
      case nil: break
      }
    }
  }
}
