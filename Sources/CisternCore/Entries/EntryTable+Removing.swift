import Eviction

extension EntryTable {
  /// The fast path of a removal, for a cache without a second tier. Declines if the write needs any decision.
  ///
  /// The function declines in these cases:
  ///
  /// - The cache is observed.
  /// - A key of the shard is watched or has unconfirmed edits.
  /// - This key has a flight.
  /// - The lifetime of the value has ended, so that its end counts and not its removal.
  ///
  /// No promotion can race with this write, so it does not raise the write version.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - now: The time for look-ups.
  /// - Returns: Whether the key has no value now. If not, the key is unchanged, and the caller uses
  ///   ``write(_:to:unless:decide:)``.
  @inlinable
  @inline(never)
  func remove(_ key: HashedKey<Key>, at now: MonotonicTime) -> Bool {
    // Released at the end, outside the lock.
    var removed: Shard<Key, Value>.Slots.RemovedEntry?
    defer { withExtendedLifetime(removed) {} }
    return shards.withShard(of: key.hash) { shard -> Bool in
      guard shard.versions.isEmpty else { return false }
      // Checked inside the critical section: an observer that registers after this check finds the key absent.
      guard !isObserved() else { return false }
      guard let number = shard.slots.find(key.key, fingerprint: key.fingerprint),
        !shard.removeIfInvalidated(number, budget: budget)
      else { return true }
      guard case .ready(let held) = shard.slots[number].entry, !held.isGone(at: now) else { return false }
      shard.reorder(number, holdsValue: false, cost: nil, budget: budget)
      removed = shard.slots.remove(number)
      shard.counters.removals += 1
      return true
    }
  }
}
