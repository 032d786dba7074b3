extension EntryTable {
  /// The main path of sets: puts a value under a key where nothing has to be decided. No unconfirmed edit lies over any key of
  /// the shard, nobody watches one, no flight is on its way for this one; nobody has to be told, and no other tier either.
  ///
  /// - Returns: whether it did; else nothing has happened to the key, and ``write(_:forKey:hash:if:effect:edits:isNeeded:count:commit:)`` has
  ///   to be asked.
  @inlinable
  func set(_ arrival: Arrival<Value>, forKey key: Key, hash: UInt64) -> Bool {
    guard canHold(arrival.cost) else { return false }
    let fingerprint = Self.fingerprint(hash)
    while true {
      // Let go of at the end of the turn, outside the lock.
      var replaced: Entry<Value>?
      var gone = Shard<Key, Value>.Evicted()
      defer {
        withExtendedLifetime(replaced) {}
        withExtendedLifetime(gone) {}
      }
      var short: Shard<Key, Value>.Shortage?
      let isSet = shards.withShard(of: hash) { shard -> Bool? in
        guard shard.versions.isEmpty else { return false }
        // Asked inside: who observes from now on reads what is set here.
        guard !isObserved() else { return false }
        if let number = shard.locate(key, fingerprint: fingerprint, budget: budget) {
          guard shard.takesInPlace(arrival.cost, at: number, .unedited, .unchanged) else { return false }
          replaced = shard.replaceValue(at: number, by: arrival, isPersisted: false)
        } else {
          short = shard.makeRoom(
            for: arrival.cost, replacing: nil, budget: budget, index: shards.index(of: hash), shardCount: shards.count,
            standings: standings, into: &gone)
          guard short == nil else { return nil }
          shard.insertValue(arrival, forKey: key, fingerprint: fingerprint)
          standings.note(shard.policy.lowestDensity, of: shards.index(of: hash))
        }
        shard.counters.stores += 1
        shard.stamp(fingerprint, .replacement)
        return true
      }
      if let isSet { return isSet }
      if let short { findRoom(short) }
    }
  }

  /// Finds room that is held by other shards or caches, whose locks must not be taken inside the lock of the shard that needs it.
  @inlinable
  func findRoom(_ short: Shard<Key, Value>.Shortage) {
    switch short {
    case .elsewhere(let budget): budget.evictSomewhere()
    case .shard(let index): evictAnywhere(from: index)
    }
  }
}
