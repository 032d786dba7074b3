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
  /// The invalidations that may concern an entry or a flight.
  @usableFromInline let invalidations: SharedInvalidations<Key>
  /// When keys may be fetched again whose older value the second tier has. Its lock is taken inside a shard's.
  @usableFromInline let retryPauses = RetryPauses()
  /// Whether a task sweeps, as the raw value of ``Sweeping``.
  let sweeping = Atomic<UInt8>(Sweeping.idle.rawValue)
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
    invalidations = SharedInvalidations(PendingInvalidations(newest: newestInvalidation))
    shards = ShardArray(count: shardCount, policy: policy, invalidations: invalidations)
    standings = ShardStandings(count: shardCount)
    self.budget = budget
    self.newestInvalidation = Atomic(newestInvalidation)
    self.isObserved = isObserved
    self.evicted = evicted
    self.unlocked = unlocked
    if newestInvalidation > 0 {
      shards.withAllShards {
        $0.noteNewestInvalidation(newestInvalidation)
      } _: {
      }
    }
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
        flight.isAheadOfSecondTier || !demand.looksBehind,
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
  ///
  /// - Parameter pause: for how long the key is not fetched again while there is an older value; nil for not at all.
  @inlinable
  @discardableResult
  func end(_ flight: Flight<Value>, forKey key: Key, hash: UInt64, pause: RetryPause? = nil) -> Bool {
    let fingerprint = Self.fingerprint(hash)
    return shards.withShard(of: hash) { shard in
      let number = shard.slots.find(key, fingerprint: fingerprint)
      let result = shard.transition(key, fingerprint: fingerprint, at: number, budget: budget) { entry in
        Entry.end(flight, &entry, retryFrom: pause?.end)
      }
      // In the section: a load that finds the entry without the flight must find the pause.
      if result.decision, let pause, !flight.isAheadOfSecondTier { retryPauses.add(pause, for: hash) }
      return result
    }.decision
  }

  /// A flight takes too long for one of its waiters: an older value is not due for a refresh before the end of `pause`.
  @usableFromInline
  func postponeRefresh(by flight: Flight<Value>, forKey key: Key, hash: UInt64, pause: RetryPause) {
    let fingerprint = Self.fingerprint(hash)
    // Released outside the lock.
    var replaced: Entry<Value>?
    defer { withExtendedLifetime(replaced) {} }
    shards.withShard(of: hash) { shard in
      let number = shard.slots.find(key, fingerprint: fingerprint)
      let isOwn: Bool
      (isOwn, replaced, _) = shard.transition(key, fingerprint: fingerprint, at: number, budget: budget) { entry in
        Entry.postponeRefresh(by: flight, &entry, retryFrom: pause.end)
      }
      if isOwn, !flight.isAheadOfSecondTier { retryPauses.add(pause, for: hash) }
    }
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
