import Eviction
import Locking

/// One part of the entry table behind one lock: entries, eviction order and counters.
///
/// Functions return the objects that they remove. The caller releases them outside the lock, because the destruction
/// of a value may run a user's code.
@usableFromInline
struct Shard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  @usableFromInline typealias Slots = SlotTable<Key, Value>

  // The order of the fields matters. The fields that a hit reads share the cache line of the lock, as do the counters
  // that a hit writes under the lock. If hits share the shard, no thread writes to that line.
  @usableFromInline var slots = Slots()
  /// The newest version in `invalidations`, in the form that entries store.
  @usableFromInline var invalidationVersion = ShortVersion()
  @usableFromInline let maximumFrequency: UInt8
  /// The counters begin with hits and stores and end with evictions. The eviction counters thus share a cache line
  /// with the fields that an eviction uses. Hits that share the shard are not counted here.
  @usableFromInline var counters = ShardCounters()

  @usableFromInline var policy: any EvictionPolicy
  /// The exact versions of the few keys on which a write in progress depends.
  @usableFromInline var versions = KeyVersions<Key>()
  /// The number of writes of all keys at once. It is part of every key's write version.
  @usableFromInline var versionOfAll = WriteVersion.zero
  /// The number of entries that hold a value and have a flight.
  @usableFromInline var refreshingCount = 0

  /// The invalidations that may concern entries older than ``invalidationVersion``.
  @usableFromInline var invalidations: ShardInvalidations<Key>
  /// The values that writers in progress have read.
  @usableFromInline var reads = WatchedReads<Key>()
  /// The entries that an invalidation removed. The sweep after each invalidation releases them outside the lock.
  @usableFromInline var invalidated: [Slots.RemovedEntry] = []
  /// A version that no value in memory is older than: each was compared with the invalidations up to it.
  @usableFromInline var comparedVersion = InvalidationVersion.zero
  /// The number of times that the entries got other slots, or another table. A sweep in progress then begins again.
  @usableFromInline var tableVersion = 0

  /// The write counts of the keys. Each element counts the writes of a group of keys.
  ///
  /// A key's write version is the sum of its group's count and ``versionOfAll``. A value from the second tier may be
  /// promoted only if the key's write version has not changed since the record was read.
  @usableFromInline var writeVersions = InlineArray<64, WriteVersion>(repeating: .zero)

  init(policy: any EvictionPolicy, invalidations: SharedInvalidations<Key>) {
    self.policy = policy
    self.invalidations = ShardInvalidations(shared: invalidations)
    maximumFrequency = if case .count(let maximum) = policy.hitRule { maximum } else { .max }
  }

  /// The effect of a hit on its entry's node. Stored as one byte, because two would not fit into the cache line.
  @inlinable
  @inline(__always)
  var hitRule: HitRule { maximumFrequency == .max ? .notifyPolicy : .count(upTo: maximumFrequency) }

  /// Counts the result of a load.
  ///
  /// - Parameters:
  ///   - decision: The result.
  ///   - demand: The values that the load accepts.
  ///   - number: The slot of the entry before the load; nil if it had none.
  ///   - now: The present time.
  @inlinable
  mutating func countLoad(
    _ decision: Entry<Value>.LoadDecision, for demand: Demand, at number: SlotNumber?, now: MonotonicTime
  ) {
    switch decision {
    case .hit(_, let isStale), .refresh(_, _, let isStale):
      guard let number else { preconditionFailure("a hit needs an entry") }
      recordHit(number)
      if isStale { counters.staleHits += 1 }
      if case .refresh = decision {
        counters.refreshes += 1
        counters.flights += 1
      }
      slots[number].entry.held?.noteUse(at: now)
    case .join: if demand.countsJoin { counters.joins += 1 }
    case .lead: counters.flights += 1
    case .lookInSecondTier, .notCached, .expired: break
    }
  }

  @inlinable
  static func versionIndex(_ fingerprint: UInt32) -> Int { Int(fingerprint >> 26) }

  /// Returns the write version of a key. Other keys may raise it too.
  // Mutating, because a nonmutating access would copy all counts.
  @inlinable
  mutating func writeVersion(of fingerprint: UInt32) -> WriteVersion {
    WriteVersion(ofGroup: writeVersions[Self.versionIndex(fingerprint)], ofAll: versionOfAll)
  }

  /// Raises the write version of a key.
  @inlinable
  mutating func raiseWriteVersion(of key: HashedKey<Key>, for effect: WriteEffect) {
    writeVersions[Self.versionIndex(key.fingerprint)].raise()
    if !versions.isEmpty { versions.note(effect, on: key) }
  }

  /// Raises the write version of every key.
  ///
  /// - Parameter isWidened: Whether all keys are removed in place of those that an invalidation concerns.
  @inlinable
  mutating func raiseAllVersions(isWidened: Bool) {
    versionOfAll.raise()
    if isWidened { noteWidenedRemoval() } else { versions.noteRemovalOfAll() }
  }

  /// Asks the state machine for a decision about an entry, and applies the decision.
  ///
  /// Inserts or removes the entry in the table, and inserts or removes its value in the eviction order. The room for
  /// a new value is already reserved.
  ///
  /// - Returns: The decision, and the objects that the caller releases outside the lock: the former entry, and the
  ///   removed key with its entry.
  @inlinable
  mutating func transition<Decision>(
    _ key: HashedKey<Key>, at number: SlotNumber?, cost: UInt32? = nil, budget: MemoryBudget,
    _ decide: (inout Entry<Value>?) -> Decision
  ) -> (decision: Decision, leaving: Entry<Value>?, taken: Slots.RemovedEntry?) {
    let before: Entry<Value>? = number.map { slots[$0].entry }
    var after = before
    let decision = decide(&after)
    refreshingCount += (after?.isRefreshing ?? false ? 1 : 0) - (before?.isRefreshing ?? false ? 1 : 0)
    switch (number, after) {
    case (nil, nil):
      break
    case (nil, let entry?):
      if slots.isFull { rebuildSlots() }
      let inserted = slots.insert(key.key, fingerprint: key.fingerprint, entry: entry)
      reorder(inserted, holdsValue: entry.holdsValue, cost: cost, budget: budget)
    case (let number?, let entry?):
      slots[number].entry = entry
      reorder(number, holdsValue: entry.holdsValue, cost: cost, budget: budget)
    case (let number?, nil):
      reorder(number, holdsValue: false, cost: nil, budget: budget)
      return (decision, before, slots.remove(number))
    }
    return (decision, before, nil)
  }

  /// Moves the entries to a new table, and gives the policy their new slot numbers.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  @inline(never)
  mutating func rebuildSlots() {
    let numbers = slots.rebuild(relinking: policy.linksEntries)
    policy.renumber(numbers)
    tableVersion += 1
  }

  /// Returns whether an entry is in the eviction order.
  @inlinable
  func isLinked(_ number: SlotNumber) -> Bool { slots[number].use.queue != .none }

  /// Updates the eviction order and the budget after the state of an entry changed.
  @inlinable
  mutating func reorder(_ number: SlotNumber, holdsValue: Bool, cost: UInt32?, budget: MemoryBudget) {
    switch (isLinked(number), holdsValue) {
    case (false, false):
      break
    case (false, true):
      slots[node: number].cost = cost ?? 0
      policy.insert(number, in: slots.evictionNodes)
    case (true, true):
      // Without a cost, the value stays the same, and its reserved room does too.
      if let cost { policy.update(number, cost: cost, in: slots.evictionNodes) }
    case (true, false):
      policy.remove(number, in: slots.evictionNodes)
      budget.release(cost: Int(slots[node: number].cost), count: 1)
    }
  }
}
