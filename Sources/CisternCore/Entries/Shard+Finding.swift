import Eviction

extension Shard {
  /// The result of a look-up that needs the value with its lifetime.
  @usableFromInline
  enum DetailedLookUp {
    /// Memory holds this value, and the caller accepts it. The second tier must note the use if one is given.
    case held(CachedValue<Value>, isStale: Bool, LastAccess?)
    /// Memory holds a value that the caller does not accept, or that the caller must refresh.
    case unaccepted
    /// Memory holds no value. See ``LookUp/absent(writeVersion:invalidationVersion:)``.
    case absent(WriteCondition<Value>)
    /// The value is past its grace period.
    case expired
  }

  /// Returns the value that memory holds for a key, with its lifetime, and applies the effects of a look-up.
  @inlinable
  mutating func find(
    _ key: HashedKey<Key>, at now: MonotonicTime, accepting demand: Demand, budget: MemoryBudget
  ) -> DetailedLookUp {
    guard let number = locate(key.key, fingerprint: key.fingerprint, budget: budget),
      let held = slots[number].entry.held
    else {
      return .absent(
        .untouched(
          writeVersion: writeVersion(of: key.fingerprint), invalidationVersion: invalidations.newest))
    }
    switch demand.verdict(on: held.freshness(at: now)) {
    case .gone:
      return .expired
    case .fetch:
      return .unaccepted
    // The caller must start the refresh.
    case .use(_, refreshes: true) where !slots[number].entry.isRefreshing:
      return .unaccepted
    case .use(let isStale, _):
      recordHit(number)
      if isStale { counters.staleHits += 1 }
      held.noteUse(at: now)
      return .held(held, isStale: isStale, held.takeAccessForDisk(at: now))
    }
  }
}
