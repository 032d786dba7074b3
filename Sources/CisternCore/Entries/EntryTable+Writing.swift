import Eviction

extension EntryTable {
  /// Applies a write to the entry of a key, in one critical section of its shard. Nothing happens if the condition does
  /// not hold.
  ///
  /// A value larger than the memory limit is not kept in memory, and the older value is removed.
  ///
  /// - Parameters:
  ///   - write: The value and its condition.
  ///   - key: The key.
  ///   - isGivenUp: Whether the write is given up although its condition holds. Called inside the critical section
  ///     before room is made, so that a write that is given up evicts no entry.
  ///   - decide: Called at most once inside the critical section, if the condition holds, after room was found and
  ///     before the entry changes. Gets the value that memory had, and whether memory will hold the new one.
  /// - Returns: Whether the condition held.
  @inlinable
  @inline(__always)
  @discardableResult
  func write(
    _ write: MemoryWrite<Value>, to key: HashedKey<Key>, unless isGivenUp: () -> Bool = { false },
    decide: (_ cached: CachedValue<Value>?, _ willBeInMemory: Bool) -> WriteDecision
  ) -> Bool {
    // Released at the end, outside the lock.
    var replaced: Entry<Value>?
    var removed: Shard<Key, Value>.Slots.RemovedEntry?
    var evicted = Shard<Key, Value>.EvictedEntries.nothing
    defer {
      withExtendedLifetime(replaced) {}
      withExtendedLifetime(removed) {}
      withExtendedLifetime(evicted) {}
    }
    let fits = write.preparedValue.map { canHold($0.cost) } ?? false
    while true {
      let attempt = shards.withShard(of: key.hash) { shard -> WriteAttempt in
        let number = shard.locate(key.key, fingerprint: key.fingerprint, budget: budget)
        if fits, let preparedValue = write.preparedValue, let number,
          shard.takesInPlace(preparedValue.cost, at: number, write.condition)
        {
          let decision = decide(shard.slots[number].entry.held, true)
          shard.countAndRaiseVersions(decision, of: key)
          replaced = shard.replaceValue(
            at: number, by: preparedValue.value, timing: preparedValue.timing, isPersisted: decision.isPersisted)
          return .conditionHeld
        }
        guard permits(write, to: key, at: number, in: &shard) else {
          shard.counters.count(write.hit)
          return .conditionFailed
        }
        if isGivenUp() {
          shard.counters.count(write.hit)
          return .conditionHeld
        }
        let holds = fits && admit(write, of: key, at: number, in: &shard)
        if holds, let preparedValue = write.preparedValue {
          let shortage = shard.makeRoom(
            for: preparedValue.cost, replacing: number, in: neighborhood(of: shards.index(of: key.hash)),
            into: &evicted, announcing: isObserved() ? announceEviction : nil)
          if let shortage { return .lacksRoom(shortage) }
        }
        let decision = decide(number.flatMap { shard.slots[$0].entry.held }, holds)
        shard.counters.count(write.hit)
        shard.countAndRaiseVersions(decision, of: key)
        (replaced, removed) = shard.apply(
          decision, holds ? write.preparedValue : nil, to: key, at: number, budget: budget)
        // After the value is in its place: a large value may be the next victim, for the room of any shard.
        if holds { priorities.note(shard.policy.lowestDensity, of: shards.index(of: key.hash)) }
        return .conditionHeld
      }
      switch attempt {
      case .conditionHeld: return true
      case .conditionFailed: return false
      case .lacksRoom(let shortage): freeRoom(for: shortage)
      }
    }
  }

  /// The outcome of one critical section of a write.
  @usableFromInline
  enum WriteAttempt {
    /// The write was applied, or its caller gave it up.
    case conditionHeld
    case conditionFailed
    /// Room must be found first.
    case lacksRoom(Shard<Key, Value>.Shortage)
  }

  /// Returns whether the condition of a write holds. A flight whose value came too late for an invalidation remembers
  /// that.
  @inlinable
  @inline(__always)
  func permits(
    _ write: MemoryWrite<Value>, to key: HashedKey<Key>, at number: SlotNumber?, in shard: inout Shard<Key, Value>
  ) -> Bool {
    let invalidationVersion = write.condition.invalidationVersion ?? shard.invalidations.newest
    // Checked first: callers that joined a flight must know of the invalidation also if the flight has lost its entry.
    if invalidationVersion < shard.invalidations.newest,
      let tags = write.preparedValue?.timing.tags ?? write.condition.fetchedTags,
      shard.invalidations.concerns(key.key, tags: tags, since: invalidationVersion)
    {
      write.condition.flight?.noteInvalidation()
      return false
    }
    return Entry.permits(
      write.condition, number.map { shard.slots[$0].entry }, writeVersion: shard.writeVersion(of: key.fingerprint),
      watched: watchedState(of: key, in: &shard))
  }

  /// Admits the value of a write to memory, or rejects it. Returns whether it is admitted.
  @inlinable
  @inline(__always)
  func admit(
    _ write: MemoryWrite<Value>, of key: HashedKey<Key>, at number: SlotNumber?, in shard: inout Shard<Key, Value>
  ) -> Bool {
    guard !write.isNeeded, let preparedValue = write.preparedValue else { return true }
    return shard.admit(preparedValue.cost, at: number, key.fingerprint, write.condition, budget)
  }
}

extension Shard {
  /// Counts a decided write, and tells the writers that watch its key.
  @inlinable
  @inline(__always)
  mutating func countAndRaiseVersions(_ decision: WriteDecision, of key: HashedKey<Key>) {
    if let counter = decision.counter { counters.count(counter) }
    raiseWriteVersion(of: key, for: decision.effect)
    switch decision.editMark {
    case .unchanged: break
    case .ended: versions.setEdited(false, key)
    case .began: versions.setEdited(true, key)
    }
  }

  /// Changes the entry of a key as a write decided. Room for the value has been made.
  ///
  /// - Parameters:
  ///   - decision: The decision.
  ///   - preparedValue: The value for memory; nil for none.
  ///   - key: The key.
  ///   - number: The slot of the key; nil for a key without an entry.
  ///   - budget: The budget of the table.
  /// - Returns: The entries that leave the table, which the caller releases outside the lock.
  @inlinable
  mutating func apply(
    _ decision: WriteDecision, _ preparedValue: PreparedValue<Value>?, to key: HashedKey<Key>, at number: SlotNumber?,
    budget: MemoryBudget
  ) -> (replaced: Entry<Value>?, removed: Slots.RemovedEntry?) {
    switch decision.entryChange {
    case .replace(let residency, let keepsFlight):
      let held = preparedValue.map { CachedValue($0, residency, invalidationVersion: invalidationVersion) }
      let (_, replaced, removed) = transition(key, at: number, cost: preparedValue?.cost ?? 0, budget: budget) {
        entry in
        Entry.replaceValue(of: &entry, with: held, keepsFlight: keepsFlight)
      }
      if decision.effect == .olderAddition { replaced?.flight?.noteNewerRecord() }
      // A promotion changes no version. An invalidation that removes the promoted value must.
      if decision.effect == .maintenance, let held { noteRead(key, tags: held.timing.tags) }
      // A reader beside the flight can still have the record that edits ended, or that the tier could not rewrite.
      if keepsFlight, held == nil || residency == .memoryOnly { replaced?.flight?.noteLostRecord() }
      return (replaced, removed)
    case .removeValue:
      let (_, replaced, removed) = transition(key, at: number, budget: budget) { Entry.removeValue(of: &$0) }
      // A reader beside the flight can have read the record before its end.
      replaced?.flight?.noteLostRecord()
      return (replaced, removed)
    case .noteRecordLoss:
      guard let number else { return (nil, nil) }
      slots[number].entry.flight?.noteLostRecord()
      guard var held = slots[number].entry.held else { return (nil, nil) }
      held.isPersisted = false
      slots[number].entry = slots[number].entry.replacingHeld(held)
      return (nil, nil)
    case .unchanged:
      // A write with this decision brings no value, so no room was made for it.
      return (nil, nil)
    }
  }
}

extension WriteDecision {
  /// Whether the second tier holds the value after the write.
  @inlinable
  var isPersisted: Bool { if case .replace(.bothTiers, _) = entryChange { true } else { false } }
}
