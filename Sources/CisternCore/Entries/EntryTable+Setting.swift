import Eviction

extension EntryTable {
  /// The fast path of a set, for a cache without a second tier. Declines if the write needs any decision.
  ///
  /// The function declines in these cases:
  ///
  /// - The cache is observed.
  /// - A key of the shard is watched or has unconfirmed edits.
  /// - This key has a flight, or its value has another cost.
  /// - The value is larger than the memory limit, or so large that the eviction policy must admit it.
  ///
  /// No promotion can race with this write, so it does not raise the write version.
  ///
  /// - Parameters:
  ///   - value: The value, which has no lifetime and no tags.
  ///   - cost: The cost of the value.
  ///   - key: The key.
  ///   - hash: The hash of the key.
  /// - Returns: Whether the value was set. If not, the key is unchanged, and the caller uses
  ///   ``write(_:to:unless:decide:)``.
  @inlinable
  @inline(never)
  func set(_ value: Value, cost: UInt32, forKey key: Key, hash: UInt64) -> Bool {
    guard canHold(cost) else { return false }
    let fingerprint = Self.fingerprint(hash)
    let index = shards.index(of: hash)
    while true {
      // Released at the end of the iteration, outside the lock.
      var replaced: Entry<Value>?
      var evicted = Shard<Key, Value>.EvictedEntries.nothing
      defer {
        withExtendedLifetime(replaced) {}
        withExtendedLifetime(evicted) {}
      }
      let setting = shards.withShard(at: index) { shard -> PlainWriteResult in
        guard shard.versions.isEmpty else { return .declined }
        // Checked inside the critical section: an observer that registers after this check can read the new value.
        guard !isObserved() else { return .declined }
        if let number = shard.slots.find(key, fingerprint: fingerprint),
          !shard.removeIfInvalidated(number, budget: budget)
        {
          guard shard.takesInPlace(cost, at: number, .unedited) else { return .declined }
          replaced = shard.replaceValue(
            at: number, by: value, timing: .plain(until: .distantFuture), isPersisted: false)
        } else if budget.isLarge(cost), budget.isLargerThanOthers(cost) {
          return .declined
        } else if let shortage = insertNewEntry(
          value, cost: cost, forKey: HashedKey(key, hash: hash), to: &shard, into: &evicted)
        {
          return .lacksRoom(shortage)
        }
        shard.counters.stores += 1
        return .done
      }
      // Another shard can have announced its eviction to an observer that registered during this call.
      if !evicted.isEmpty { deliverChanges() }
      switch setting {
      case .done: return true
      case .declined: return false
      case .lacksRoom(let shortage): freeRoom(for: shortage)
      }
    }
  }

  /// The result of a set or a publication on its fast path.
  @usableFromInline
  enum PlainWriteResult {
    case done
    /// The write needs a decision that the fast path does not make.
    case declined
    /// The write must find room first.
    case lacksRoom(Shard<Key, Value>.Shortage)
  }

  /// Inserts a value for a key without an entry, inside the shard's critical section.
  ///
  /// - Returns: The source of the missing room; nil if the value was inserted.
  @inlinable
  @inline(never)
  func insertNewEntry(
    _ value: Value, cost: UInt32, forKey key: HashedKey<Key>, to shard: inout Shard<Key, Value>,
    into evicted: inout Shard<Key, Value>.EvictedEntries
  ) -> Shard<Key, Value>.Shortage? {
    let index = shards.index(of: key.hash)
    let shortage = shard.makeRoom(for: cost, replacing: nil, in: neighborhood(of: index), into: &evicted)
    if shortage != nil { return shortage }
    shard.insertValue(value, cost: cost, forKey: key)
    if shards.count > 1 { priorities.note(shard.policy.lowestDensity, of: index) }
    return nil
  }
}
