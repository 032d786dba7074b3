// Look-ups that return fresh and stale values alike, with their details.

extension SecondTierReader {
  /// Returns the value of a key from either tier, if the demand accepts it. Never fetches. Counts a miss.
  @usableFromInline
  func find(_ key: HashedKey<Key>, accepting demand: Demand) -> Loaded<Value>? {
    if let loaded = findUncounted(key, accepting: demand) { return loaded }
    table.countMiss()
    return nil
  }

  /// Returns the value that memory holds for a key, if the demand accepts it and no refresh must start. Counts no miss.
  @inlinable
  func findInMemory(_ key: HashedKey<Key>, accepting demand: Demand) -> Loaded<Value>? {
    guard case .held(let held, let isStale, let lastAccess) = table.find(key, at: lifetimes.now(), accepting: demand)
    else {
      return nil
    }
    return loaded(held, isStale: isStale, noting: lastAccess, of: key)
  }

  /// As ``find(_:accepting:)``, but counts no miss.
  private func findUncounted(_ key: HashedKey<Key>, accepting demand: Demand) -> Loaded<Value>? {
    switch table.find(key, at: lifetimes.now(), accepting: demand) {
    case .held(let held, let isStale, let lastAccess):
      return loaded(held, isStale: isStale, noting: lastAccess, of: key)
    case .unaccepted:
      return nil
    case .absent(let condition):
      return findRecord(key, if: condition, accepting: demand)
    case .expired:
      endExpired(key)
      guard secondTier != nil else { return nil }
      switch table.find(key, at: lifetimes.now(), accepting: demand) {
      case .absent(let condition):
        return findRecord(key, if: condition, accepting: demand)
      // Another writer has stored a value since, and the look-up counts a hit.
      case .held(let held, let isStale, let lastAccess):
        return loaded(held, isStale: isStale, noting: lastAccess, of: key)
      case .unaccepted, .expired:
        return nil
      }
    }
  }

  /// Looks in the second tier, and puts the value into memory, unless the key was written since.
  private func findRecord(
    _ key: HashedKey<Key>, if condition: WriteCondition<Value>, accepting demand: Demand
  ) -> Loaded<Value>? {
    if case .shows(let shown) = loadedFromEdits(key) { return shown }
    guard let secondTier else { return nil }
    guard let interpretation = interpretedRecord(of: key, in: secondTier) else {
      // Another caller may have promoted the record in between.
      return findInMemory(key, accepting: demand)
    }
    guard case .usable(let found) = interpretation else {
      discard(interpretation, of: key, if: condition)
      return nil
    }
    guard case .use(let isStale, _) = demand.verdict(on: found.timing.freshness(at: lifetimes.now())) else {
      promote(found, of: key, if: condition, hit: .uncounted)
      return nil
    }
    promote(found, of: key, if: condition, hit: isStale ? .stale : .fresh)
    return loaded(found, isStale: isStale)
  }

  /// Returns the value that the unconfirmed edits of a key show, with its details, and counts a hit.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - countedMiss: Whether the load counted a miss before it waited.
  /// - Returns: The value that the edits show.
  func loadedFromEdits(_ key: HashedKey<Key>, afterMiss countedMiss: Bool = false) -> EditView<Loaded<Value>> {
    guard !edits.isEmpty, let edited = edits[key.key] else { return .unedited }
    guard let shown = edited.shown else { return .shows(nil) }
    table.count(key.hash) { counters in
      counters.memoryHits += 1
      if countedMiss { counters.lateHits += 1 }
    }
    return .shows(described(shown, edited.shownTiming, from: .memory))
  }

  /// Returns a value of memory with its details, and notes its use in the second tier if one is given.
  @inlinable
  func loaded(
    _ held: CachedValue<Value>, isStale: Bool, noting lastAccess: LastAccess?, of key: HashedKey<Key>
  ) -> Loaded<Value> {
    if let lastAccess { writeUse(lastAccess, of: key) }
    return described(held.value, held.timing, from: .memory, isStale: isStale)
  }

  /// The error of a load that does not fetch.
  @usableFromInline
  func notCached(_ key: HashedKey<Key>) -> CisternError {
    CisternError(
      .notCached, "neither tier has a value that the policy accepts, and the policy does not fetch",
      location: reports.location(of: key.key))
  }
}
