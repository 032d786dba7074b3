import Eviction

extension Shard {
  /// Returns the slot of a key; nil if the key has none or if an invalidation concerns its entry.
  ///
  /// An invalidated entry is removed from the table. The next sweep releases it.
  @inlinable
  mutating func locate(_ key: Key, fingerprint: UInt32, budget: MemoryBudget) -> SlotNumber? {
    guard let number = slots.find(key, fingerprint: fingerprint) else { return nil }
    return removeIfInvalidated(number, budget: budget) ? nil : number
  }

  /// Removes the entry in a slot if an invalidation concerns it. Returns whether it did.
  @inlinable
  @inline(__always)
  mutating func removeIfInvalidated(_ number: SlotNumber, budget: MemoryBudget) -> Bool {
    slots[number].entry.invalidationVersion != invalidationVersion
      && removeUnlessCurrent(number, budget: budget)
  }

  /// Compares an entry with the invalidations since its invalidation version.
  ///
  /// An entry that none of them concerns gets the shard's current version. Otherwise, the entry is removed. Returns
  /// whether it was.
  @inlinable
  @inline(never)
  mutating func removeUnlessCurrent(_ number: SlotNumber, budget: MemoryBudget) -> Bool {
    switch slots[number].entry {
    case .inProgress(let flight):
      // The tags of the flight's value are not known yet. They are compared when the value is written.
      if !invalidations.concerns(slots.key(of: number), since: flight.invalidationVersion) { return false }
    case .ready(var held):
      if !isInvalidated(held, forKey: slots.key(of: number)) {
        held.invalidationVersion = invalidationVersion
        slots[number].entry = .ready(held)
        return false
      }
    case .refreshing(let refreshing):
      var held = refreshing.held
      if !isInvalidated(held, forKey: slots.key(of: number)) {
        held.invalidationVersion = invalidationVersion
        slots[number].entry = .refreshing(Refreshing(held: held, flight: refreshing.flight))
        return false
      }
    }
    removeInvalidated(number, budget: budget)
    return true
  }

  /// Removes an entry that an invalidation concerns, with its flight. The next sweep releases it.
  @usableFromInline
  mutating func removeInvalidated(_ number: SlotNumber, budget: MemoryBudget) {
    if case .refreshing = slots[number].entry { refreshingCount -= 1 }
    if slots[number].entry.holdsValue { counters.invalidations += 1 }
    reorder(number, holdsValue: false, cost: nil, budget: budget)
    invalidated.append(slots.remove(number))
  }

  /// Raises the shard's invalidation version. Entries with lower versions must be compared with the invalidations
  /// since.
  ///
  /// If the sweeps are so late that the short version of a value could become ambiguous, all values count as
  /// invalidated.
  @inlinable
  mutating func noteNewestInvalidation(_ version: InvalidationVersion, budget: MemoryBudget) {
    invalidations.newest = version
    invalidationVersion = ShortVersion(version)
    guard version.number &- comparedVersion.number >= ShortVersion.count / 2 else { return }
    for number in slots.numbers(inGroups: 0..<slots.groupCount) where slots[number].entry.holdsValue {
      removeInvalidated(number, budget: budget)
    }
    comparedVersion = version
  }

  /// Changes the watched versions of the keys whose values the invalidation concerns and writers have read.
  // Specialized for the key: an invalidation calls this for each shard, and unspecialized code looks up types even if
  // no key is watched.
  @inlinable
  mutating func noteInvalidation(where concerns: (Key, [String]) -> Bool) {
    if versions.isEmpty { return }
    for key in reads.concerned(of: versions, by: concerns) { versions.note(.replacement, on: key) }
  }

  /// Changes the watched versions of all keys whose values writers have read, and ends the fetches of all keys.
  @usableFromInline
  mutating func noteWidenedRemoval() {
    if versions.isEmpty { return }
    versions.noteWidenedRemoval(ofRead: reads.concerned(of: versions) { _, _ in true })
  }

  /// Notes that a writer reads a key's value with these tags. Does nothing if no writer watches the key.
  @usableFromInline
  mutating func noteRead(_ key: HashedKey<Key>, tags: [String]) {
    guard let version = versions[key]?.version else { return }
    reads.note(key, tags: tags, version: version)
  }

  /// Notes that a writer has read a watched key's value with these tags, at these versions of the key and of the
  /// invalidations.
  ///
  /// If a later invalidation concerns the value, the key's watched version changes now.
  @usableFromInline
  mutating func noteRead(
    _ key: HashedKey<Key>, tags: [String], version: KeyVersion, since invalidationVersion: InvalidationVersion
  ) {
    guard versions.hasValue(of: version, for: key) else { return }
    if invalidationVersion < invalidations.newest,
      invalidations.concerns(key.key, tags: tags, since: invalidationVersion)
    {
      versions.note(.replacement, on: key)
    } else {
      noteRead(key, tags: tags)
    }
  }

  @inlinable
  func isInvalidated(_ held: CachedValue<Value>, forKey key: @autoclosure () -> Key) -> Bool {
    guard held.invalidationVersion != invalidationVersion else { return false }
    let since = invalidations.number(of: held.invalidationVersion)
    return invalidations.concerns(key(), tags: held.timing.tags, since: since)
  }
}
