import Eviction

extension EntryTable {
  /// The fast path of a publication, for a cache without a second tier. Declines if the write needs any decision.
  ///
  /// The function declines in the cases of ``set(_:cost:forKey:hash:)``, and in these:
  ///
  /// - The entry is not the flight's, or it holds an older value.
  /// - An invalidation came since the flight began.
  ///
  /// - Parameters:
  ///   - value: The value, which has no lifetime and no tags.
  ///   - cost: The cost of the value.
  ///   - flight: The flight.
  ///   - key: The key.
  /// - Returns: Whether the value was published. If not, the key is unchanged.
  @inlinable
  @inline(never)
  func publish(_ value: Value, cost: UInt32, of flight: Flight<Value>, for key: HashedKey<Key>) -> Bool {
    guard canHold(cost) else { return false }
    let index = shards.index(of: key.hash)
    while true {
      // Released at the end of the iteration, outside the lock.
      var replaced: Entry<Value>?
      var evicted = Shard<Key, Value>.EvictedEntries.nothing
      defer {
        withExtendedLifetime(replaced) {}
        withExtendedLifetime(evicted) {}
      }
      let result = shards.withShard(at: index) { shard -> PlainWriteResult in
        guard shard.versions.isEmpty else { return .declined }
        guard !isObserved() else { return .declined }
        guard flight.invalidationVersion >= shard.invalidations.newest else { return .declined }
        if budget.isLarge(cost), budget.isLargerThanOthers(cost) { return .declined }
        guard let number = shard.slots.find(key.key, fingerprint: key.fingerprint),
          shard.isInProgress(number, by: flight)
        else { return .declined }
        let shortage = shard.makeRoom(for: cost, replacing: nil, in: neighborhood(of: index), into: &evicted)
        if let shortage { return .lacksRoom(shortage) }
        replaced = shard.completeEntry(number, with: value, cost: cost)
        shard.counters.stores += 1
        if shards.count > 1 { priorities.note(shard.policy.lowestDensity, of: index) }
        return .done
      }
      // Another shard can have announced its eviction to an observer that registered during this call.
      if !evicted.isEmpty { deliverChanges() }
      switch result {
      case .done: return true
      case .declined: return false
      case .lacksRoom(let shortage): freeRoom(for: shortage)
      }
    }
  }

  /// Returns whether the entry of a key belongs to a flight, and no invalidation since the flight began concerns a
  /// value with these tags.
  func canPublish(_ flight: Flight<Value>, of key: HashedKey<Key>, tags: [String]) -> Bool {
    shards.withShard(of: key.hash) { shard in
      guard let number = shard.slots.find(key.key, fingerprint: key.fingerprint),
        Entry.isOwn(flight, shard.slots[number].entry)
      else { return false }
      return flight.invalidationVersion >= shard.invalidations.newest
        || !shard.invalidations.concerns(key.key, tags: tags, since: flight.invalidationVersion)
    }
  }
}
