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
  /// Whether anyone wants to hear of changes, and of entries that make room for others: asked first, since it is not generic,
  /// and compiled for all keys and values at once.
  @usableFromInline let isObserved: @Sendable () -> Bool
  /// Called inside the critical section for each entry that makes room for others, if somebody does.
  @usableFromInline let evicted: @Sendable (Key, Held<Value>) -> Void
  /// Called after entries made room for those of another cache: what was recorded can be delivered.
  @usableFromInline let unlocked: @Sendable () -> Void

  init(
    shardCount: Int, policy: EvictionPolicyKind, budget: MemoryBudget, newestInvalidation: UInt64 = 0,
    isObserved: @escaping @Sendable () -> Bool = { false },
    evicted: @escaping @Sendable (Key, Held<Value>) -> Void = { _, _ in },
    unlocked: @escaping @Sendable () -> Void = {}
  ) {
    shards = ShardArray(count: shardCount, policy: policy)
    standings = ShardStandings(count: shardCount)
    self.budget = budget
    self.newestInvalidation = Atomic(newestInvalidation)
    let pending = PendingInvalidations<Key>(newest: newestInvalidation)
    invalidationLog = Guarded(pending)
    self.isObserved = isObserved
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

  /// Whether memory can hold a value of this cost at all.
  @inlinable
  func canHold(_ cost: UInt32) -> Bool { Int(cost) <= budget.largestCost }
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
  /// Counts a look-up that neither tier answered. Takes no lock.
  @inlinable
  func countMiss() { shards.readers.countOutside() }

  /// Counts something of a key's.
  @inlinable
  func count(_ hash: UInt64, _ body: (inout ShardCounters) -> Void) {
    shards.withShard(of: hash) { body(&$0.counters) }
  }
}
