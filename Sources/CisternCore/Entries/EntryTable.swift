import Eviction
import Locking
import Synchronization

/// The entries of one cache.
///
/// Flights in progress and values in memory use the same slots. A look-up, a join and a registration are therefore
/// one critical section.
///
/// The table is the storage around ``Entry``. It locks a shard, asks the state machine, applies the answer, unlocks,
/// and releases the removed objects. It knows neither disk nor observers. Instead, callers pass closures that run
/// inside the critical section. The order in which they stage and record is therefore the order of the entries'
/// changes.
@usableFromInline
final class EntryTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let shards: ShardArray<Key, Value>
  @usableFromInline let keyHash = KeyHash()
  @usableFromInline let priorities: ShardPriorities
  @usableFromInline let budget: MemoryBudget
  @usableFromInline let waiterCounts = WaiterCounts()
  /// The invalidation version. A fetch or a read that begins now is newer than all invalidations up to this one.
  @usableFromInline let newestInvalidation: Atomic<InvalidationVersion>
  /// The invalidations that may concern an entry or a flight.
  @usableFromInline let invalidations: SharedInvalidations<Key>
  /// Whether a value that can expire was ever stored or promoted. Before, no look-up needs the time.
  @usableFromInline let hasDeadlines = Atomic<Bool>(false)
  /// Whether a value whose lifetime depends on its uses was ever stored or promoted.
  @usableFromInline let hasIdleTimes = Atomic<Bool>(false)
  /// The enumerations in progress.
  let walks = OpenWalks()
  /// The retry pauses that memory does not keep with a value. Its lock is taken inside a shard's lock.
  @usableFromInline let retryPauses = RetryPauses<Key>()
  /// The state of the sweeping task, as a raw value of ``SweepState``.
  let sweeping = Atomic<UInt8>(SweepState.idle.rawValue)
  /// Returns whether the cache has observers.
  ///
  /// Called before `announceEviction`. It is not generic, so that one compiled form serves all keys and values.
  @usableFromInline let isObserved: @Sendable () -> Bool
  /// Handles the eviction of an entry, inside the critical section. Called only if `isObserved` returns true.
  @usableFromInline let announceEviction: Shard<Key, Value>.EvictionHandler
  /// Delivers recorded changes. Called outside all locks, after an eviction and after a pass of the sweep.
  @usableFromInline let deliverChanges: @Sendable () -> Void

  /// The functions that a table calls for an eviction.
  struct Handlers {
    var isObserved: @Sendable () -> Bool = { false }
    var announceEviction: Shard<Key, Value>.EvictionHandler = { _, _ in }
    var deliverChanges: @Sendable () -> Void = {}
  }

  init(
    shardCount: Int, policy: EvictionPolicyKind, budget: MemoryBudget, newestInvalidation: InvalidationVersion = .zero,
    handlers: Handlers = Handlers()
  ) {
    invalidations = SharedInvalidations(PendingInvalidations(newest: newestInvalidation))
    shards = ShardArray(count: shardCount, policy: policy, invalidations: invalidations)
    priorities = ShardPriorities(count: shardCount)
    self.budget = budget
    self.newestInvalidation = Atomic(newestInvalidation)
    isObserved = handlers.isObserved
    announceEviction = handlers.announceEviction
    deliverChanges = handlers.deliverChanges
    if newestInvalidation > .zero {
      shards.withAllShards(
        each: { shard in
          shard.comparedVersion = newestInvalidation
          shard.noteNewestInvalidation(newestInvalidation, budget: budget)
        }, {})
    }
  }

  deinit {
    // Other caches that share the budget may outlive this table.
    for index in 0..<shards.count {
      let total = shards.withShard(at: index) { $0.policy.total }
      budget.release(cost: total.cost, count: total.count)
    }
  }

  /// Returns a key's hash, which selects the shard, the slot and the ghost. The hash differs between processes.
  @inlinable
  func hash(_ key: Key) -> UInt64 { keyHash.of(key) }

  @inlinable
  static func fingerprint(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash) }

  /// Returns whether memory can hold a value of this cost at all.
  @inlinable
  func canHold(_ cost: UInt32) -> Bool { Int(cost) <= budget.largestCost }
}

// MARK: Loading

extension EntryTable {
  /// Performs a load up to its decision, in one critical section: the load hits, joins a flight or leads a new one.
  @inlinable
  func load(
    _ key: HashedKey<Key>, at now: MonotonicTime, accepting demand: Demand = .standard, priority: TaskPriority,
    makeFlight: () -> Flight<Value>
  ) -> Entry<Value>.LoadDecision {
    // An abandoned flight, with all objects that its task holds, is released outside the lock.
    var replaced: Entry<Value>?
    defer { withExtendedLifetime(replaced) {} }
    let decision = shards.withShard(of: key.hash) { shard -> Entry<Value>.LoadDecision in
      let number = shard.locate(key.key, fingerprint: key.fingerprint, budget: budget)
      if let number, demand == .standard, case .ready(let held) = shard.slots[number].entry,
        case .plain(let deadline) = held.timing
      {
        // The hit does not change the entry's state, so it needs no transition.
        guard now < deadline else { return .expired }
        shard.recordHit(number)
        return .hit(held, isStale: false)
      }
      if let number, demand.fetches, demand.joins, case .inProgress(let flight) = shard.slots[number].entry,
        !demand.mustLookUpBeforeJoining(flightCoversSecondTier: flight.coversSecondTier),
        case .joined(let waiter, let raised) = flight.join(Urgency(priority))
      {
        // Joining does not change the entry's state either.
        if demand.countsJoin { shard.counters.joins += 1 }
        return .join(flight, waiter: waiter, raiseTo: raised, fallback: nil)
      }
      let decision: Entry<Value>.LoadDecision
      (decision, replaced, _) = shard.transition(key, at: number, budget: budget) { entry in
        Entry.load(&entry, at: now, accepting: demand, priority: priority, makeFlight: makeFlight)
      }
      shard.countLoad(decision, for: demand, at: number, now: now)
      if case .lead = decision, !demand.joins { shard.versions.noteFetchAnew(on: key) }
      return decision
    }
    if case .join(let flight, _, let raised?, _) = decision { flight.work.raise(to: raised) }
    return decision
  }

  /// Ends a flight that has no value to publish.
  ///
  /// - Parameters:
  ///   - flight: The flight.
  ///   - key: The key.
  ///   - pause: The time during which an older value is not due for a refresh; nil for none.
  /// - Returns: Whether the entry belonged to the flight, and has no flight now.
  @inlinable
  @discardableResult
  func end(_ flight: Flight<Value>, of key: HashedKey<Key>, pause: RetryPause? = nil) -> Bool {
    // Released outside the lock.
    var replaced: Entry<Value>?
    var removed: Shard<Key, Value>.Slots.RemovedEntry?
    var unpaused: [HashedKey<Key>] = []
    defer {
      withExtendedLifetime(replaced) {}
      withExtendedLifetime(removed) {}
      withExtendedLifetime(unpaused) {}
    }
    return shards.withShard(of: key.hash) { shard in
      let number = shard.slots.find(key.key, fingerprint: key.fingerprint)
      let isOwn: Bool
      (isOwn, replaced, removed) = shard.transition(key, at: number, budget: budget) { entry in
        Entry.end(flight, &entry, pause: pause)
      }
      // Inside the critical section: a load that finds the entry without the flight must also find the pause.
      let hasValue = isOwn && removed == nil
      if isOwn, let pause, flight.needsPauseBesideMemory(withValue: hasValue) {
        unpaused = retryPauses.add(pause, for: key, ofRefresh: flight.pausesRefreshes(withValue: hasValue))
      }
      return isOwn
    }
  }

  /// Delays the next refresh until the end of `pause`, because a waiter's timeout expired. The flight continues.
  @usableFromInline
  func postponeRefresh(by flight: Flight<Value>, of key: HashedKey<Key>, pause: RetryPause) {
    // Released outside the lock.
    var replaced: Entry<Value>?
    var unpaused: [HashedKey<Key>] = []
    defer {
      withExtendedLifetime(replaced) {}
      withExtendedLifetime(unpaused) {}
    }
    shards.withShard(of: key.hash) { shard in
      let number = shard.slots.find(key.key, fingerprint: key.fingerprint)
      let isOwn: Bool
      (isOwn, replaced, _) = shard.transition(key, at: number, budget: budget) { entry in
        Entry.postponeRefresh(by: flight, &entry, pause: pause)
      }
      if isOwn, !flight.coversSecondTier { unpaused = retryPauses.add(pause, for: key, ofRefresh: false) }
    }
  }
}

// MARK: Counting

extension EntryTable {
  /// Counts a look-up that neither tier answered. Takes no lock.
  @inlinable
  func countMiss() { shards.readers.countOutside() }

  /// Updates the counters of the key's shard, under the shard's lock.
  @inlinable
  func count(_ hash: UInt64, _ body: (inout ShardCounters) -> Void) {
    shards.withShard(of: hash) { body(&$0.counters) }
  }
}
