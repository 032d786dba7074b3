extension EntryTable {
  /// Writes a value into a key's entry, or empties the entry.
  ///
  /// - Parameters:
  ///   - arrival: The value. If it is nil or larger than the memory limit, memory holds nothing for the key
  ///     afterwards.
  ///   - condition: The condition under which the write applies.
  ///   - effect: The effect of the write on operations that began before it.
  ///   - isVoid: asked inside the critical section, if the condition holds: whether the write is not to be made after all.
  ///   - edits: The effect of the write on the key's unconfirmed edits.
  ///   - isNeeded: Whether memory holds the value even if the eviction policy would not admit it.
  ///   - count: Runs once, inside the critical section, whether or not the condition holds. If it holds, runs after
  ///     `commit`.
  ///   - commit: Runs once, inside the critical section, if the condition holds and before the entry changes. The
  ///     room is available by then. Takes the value that memory held, whether memory will hold the new value, and the
  ///     invalidation version that the new value is newer than. Returns whether the second tier holds the new value.
  /// - Returns: Whether the condition held.
  @inlinable
  @discardableResult
  func write(
    _ arrival: Arrival<Value>?, forKey key: Key, hash: UInt64, if condition: WriteCondition<Value> = .always,
    effect: WriteEffect = .replacement, edits: EditMark = .unchanged, isNeeded: Bool = false,
    unless isVoid: () -> Bool = { false }, count: (inout ShardCounters) -> Void = { _ in },
    commit: (_ had: Held<Value>?, _ isHeld: Bool, _ era: UInt64) -> Bool
  ) -> Bool {
    let fingerprint = Self.fingerprint(hash)
    // Released at the end of the function, outside the lock.
    var replaced: Entry<Value>?
    var removed: Shard<Key, Value>.Slots.Taken?
    var gone = Shard<Key, Value>.Evicted.nothing
    defer { withExtendedLifetime((replaced, removed, gone)) {} }
    let holds = arrival.map { canHold($0.cost) } ?? false
    while true {
      var short: Shard<Key, Value>.Shortage?
      let result = shards.withShard(of: hash) { shard -> Bool? in
        let number = shard.locate(key, fingerprint: fingerprint, budget: budget)
        if holds, let arrival, let number, shard.takesInPlace(arrival.cost, at: number, condition, edits) {
          let isPersisted = commit(shard.slots[number].entry.held, true, shard.invalidations.newest)
          count(&shard.counters)
          shard.stamp(fingerprint, effect)
          replaced = shard.replaceValue(at: number, by: arrival.value, timing: arrival.timing, isPersisted: isPersisted)
          return true
        }
        let entry = number.map { shard.slots[$0].entry }
        let era = condition.era ?? shard.invalidations.newest
        // A value that was fetched or read before an invalidation that concerns it is too old. This check comes
        // before the condition, because the waiters of a flight must learn about the invalidation even if the flight
        // lost its entry.
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
            watched: shard.versions.isEmpty ? nil : shard.versions[fingerprint]), !isVoid()
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
            shardCount: shards.count, standings: standings, into: &gone, isObserved: isObserved()
          ) { evicted($0, $1) }
          guard short == nil else { return nil }
        }
        let isPersisted = commit(entry?.held, holds, shard.invalidations.newest)
        count(&shard.counters)
        shard.stamp(fingerprint, effect)
        var keepsFlight = if case .beside = condition { true } else { false }
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
        // After the entry changed: a large value may now be the next one to evict, for the benefit of any shard.
        if holds { standings.note(shard.policy.lowestDensity, of: shards.index(of: hash)) }
        return true
      }
      if let result { return result }
      if let short { findRoom(short) }
    }
  }
}
