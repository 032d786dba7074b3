extension Shard {
  /// The slot of a key. What an invalidation concerns is not found: it is taken out on the way, and let go of by the
  /// sweep.
  @inlinable
  mutating func locate(_ key: Key, fingerprint: UInt32, budget: MemoryBudget) -> SlotNumber? {
    guard let number = slots.find(key, fingerprint: fingerprint) else { return nil }
    return isCurrent(number, budget: budget) ? number : nil
  }

  /// Whether no invalidation concerns what is in a slot; else it is taken out.
  @inlinable
  @inline(__always)
  mutating func isCurrent(_ number: SlotNumber, budget: MemoryBudget) -> Bool {
    slots[number].entry.era == era || bringUpToDate(number, budget: budget)
  }

  /// Compares an entry with the invalidations since its era. One that none concerns is of this era from now on.
  @inlinable
  @inline(never)
  mutating func bringUpToDate(_ number: SlotNumber, budget: MemoryBudget) -> Bool {
    switch slots[number].entry {
    case .inProgress(let flight):
      // What tags it will have is not known. That is looked at when it brings its value.
      if !invalidations.concerns(slots.key(of: number), since: flight.era) { return true }
    case .ready(var held):
      if !isInvalidated(held, forKey: slots.key(of: number)) {
        held.era = era
        slots[number].entry = .ready(held)
        return true
      }
    case .refreshing(let refreshing):
      var held = refreshing.held
      if !isInvalidated(held, forKey: slots.key(of: number)) {
        held.era = era
        slots[number].entry = .refreshing(Refreshing(held: held, flight: refreshing.flight))
        return true
      }
      refreshingCount -= 1
    }
    reorder(number, isReady: false, cost: nil, budget: budget)
    invalidated.append(slots.remove(number))
    counters.invalidations += 1
    return false
  }

  /// There is a newer invalidation: entries of older eras must be compared with it.
  @usableFromInline
  mutating func noteNewestInvalidation(_ number: UInt64) {
    invalidations.newest = number
    era = Era(number)
  }

  /// An invalidation changes the versions of the keys whose values it concerns and that writers under way have read.
  @usableFromInline
  mutating func noteInvalidation(where concerns: (Key, [String]) -> Bool) {
    if versions.isEmpty { return }
    for fingerprint in reads.concerned(of: versions, by: concerns) { versions.note(.replacement, on: fingerprint) }
  }

  /// A key has a value with these tags. Nothing if no writer watches it.
  @usableFromInline
  mutating func noteRead(_ key: Key, tags: [String], fingerprint: UInt32) {
    guard let version = versions[fingerprint]?.version else { return }
    reads.note(key, tags: tags, version: version, on: fingerprint)
  }

  @inlinable
  func isInvalidated(_ held: Held<Value>, forKey key: @autoclosure () -> Key) -> Bool {
    guard held.era != era else { return false }
    let since = invalidations.number(of: held.era)
    return invalidations.concerns(key(), tags: held.timing.tags, since: since)
  }
}

extension Entry {
  /// The newest invalidation that it is known to be newer than.
  @inlinable
  var era: Era {
    switch self {
    case .inProgress(let flight): Era(flight.era)
    case .ready(let held): held.era
    case .refreshing(let refreshing): refreshing.held.era
    }
  }
}
