extension EntryTable {
  /// The main path of sets: puts a value under a key where nothing has to be decided. No unconfirmed edit lies over any key of
  /// the shard, nobody watches one, no flight is on its way for this one; nobody has to be told, and there is no other tier: nobody
  /// reads what this would make too old, so that the write has no stamp.
  ///
  /// - Parameter value: one without a lifetime and without tags.
  /// - Returns: whether it did; else nothing has happened to the key, and ``write(_:forKey:hash:if:effect:edits:isNeeded:count:commit:)`` has
  ///   to be asked.
  @inlinable
  @inline(never)
  func set(_ value: Value, cost: UInt32, forKey key: Key, hash: UInt64) -> Bool {
    guard canHold(cost) else { return false }
    let fingerprint = Self.fingerprint(hash)
    let index = shards.index(of: hash)
    while true {
      // Let go of at the end of the turn, outside the lock.
      var replaced: Entry<Value>?
      var gone = Shard<Key, Value>.Evicted.nothing
      defer {
        withExtendedLifetime(replaced) {}
        withExtendedLifetime(gone) {}
      }
      let setting = shards.withShard(at: index) { shard -> Setting in
        guard shard.versions.isEmpty else { return .declined }
        // Asked inside: who observes from now on reads what is set here.
        guard !isObserved() else { return .declined }
        if let number = shard.slots.find(key, fingerprint: fingerprint), shard.isCurrent(number, budget: budget) {
          guard shard.takesInPlace(cost, at: number, .unedited, .unchanged) else { return .declined }
          replaced = shard.replaceValue(
            at: number, by: value, timing: .plain(until: .distantFuture), isPersisted: false)
        } else if let short = bringIn(
          value, cost: cost, forKey: key, fingerprint: fingerprint, to: &shard, index, into: &gone)
        {
          return .short(short)
        }
        shard.counters.stores += 1
        return .done
      }
      switch setting {
      case .done: return true
      case .declined: return false
      case .short(let short): findRoom(short)
      }
    }
  }

  /// How a set went.
  @usableFromInline
  enum Setting {
    case done
    /// Something has to be decided.
    case declined
    /// Room has to be found first.
    case short(Shard<Key, Value>.Shortage)
  }

  /// Gives a value to a key that has nothing, in its shard's section; what there is no room for yet, if so.
  @inlinable
  @inline(never)
  func bringIn(
    _ value: Value, cost: UInt32, forKey key: Key, fingerprint: UInt32, to shard: inout Shard<Key, Value>,
    _ index: Int, into gone: inout Shard<Key, Value>.Evicted
  ) -> Shard<Key, Value>.Shortage? {
    let short = shard.makeRoom(
      for: cost, replacing: nil, budget: budget, index: index, shardCount: shards.count, standings: standings,
      into: &gone)
    if case .some = short { return short }
    shard.insertValue(value, cost: cost, forKey: key, fingerprint: fingerprint)
    standings.note(shard.policy.lowestDensity, of: index)
    return nil
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
