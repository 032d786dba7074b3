// The older values that loads return if their fetch fails or takes too long.
//
// A load returns such a value only if it could still find it: not if the key was written or removed since the look-up.

extension Loader {
  /// Returns the older value of a wait whose flight has failed.
  ///
  /// - Parameters:
  ///   - wait: The wait.
  ///   - key: The key.
  /// - Returns: The older value; nil if the caller must not get one, or is cancelled.
  func fallbackAfterFailure(of wait: Wait<Value>, _ key: HashedKey<Key>) -> Fallback<Value>? {
    guard !Task.isCancelled, !wait.flight.isDisowned else { return nil }
    return usableFallback(of: wait, key)
  }

  /// Returns the older value of a wait whose time is up.
  ///
  /// A write, a removal or a clear takes the entry from the flight. A flight that has stored its own value has left its
  /// entry, too: its speed must not decide about the older value.
  ///
  /// - Parameters:
  ///   - wait: The wait.
  ///   - key: The key.
  /// - Returns: The older value; nil if the caller must not get one.
  func fallbackAfterTimeout(of wait: Wait<Value>, _ key: HashedKey<Key>) -> Fallback<Value>? {
    guard let older = usableFallback(of: wait, key) else { return nil }
    if wait.flight.isReplaced || table.flight(of: key) === wait.flight { return older }
    return wait.flight.isCompleted && !wait.flight.isDisowned ? older : nil
  }

  /// Returns the value that the caller of a wait finds when its time is up.
  ///
  /// The leader of the flight may still be looking in the second tier, or the flight may just have failed. A writer may
  /// have set the key since. A value that the flight has fetched does not count: its speed must not decide about the
  /// timeout. It counts if it was merged under the value of a writer.
  ///
  /// - Parameters:
  ///   - wait: The wait, which has no older value, or one that was removed or replaced.
  ///   - key: The key.
  /// - Returns: The value; nil if the policy accepts none of both tiers.
  func valueWithoutFetch(of wait: Wait<Value>, _ key: HashedKey<Key>) -> Loaded<Value>? {
    let flight = wait.flight
    let hasStoredFetch = flight.isCompleted && !flight.isFromSecondTier && flight.storedTiming != nil
    guard !hasStoredFetch || flight.isDisowned else { return nil }
    let demand = wait.waitLimits.policy.demand
    if demand.acceptsFresh, case .shows(let shown) = records.loadedFromEdits(key, afterMiss: wait.countedMiss) {
      return shown
    }
    guard let read = records.storedValue(of: key) else { return nil }
    let isStale: Bool
    switch demand.verdict(on: read.timing.freshness(at: read.time)) {
    case .use(let isOld, _): isStale = isOld
    case .fetch(fallsBack: true): isStale = true
    case .fetch(fallsBack: false), .gone: return nil
    }
    let source: Loaded<Value>.Source = read.record == nil ? .memory : .secondTier
    noteLateHit(of: wait, key, from: source, isStale: isStale)
    return records.described(read.value, read.timing, from: source, isStale: isStale)
  }

  /// Returns the older value of a wait while the policy accepts it, if no invalidation since the look-up concerns it.
  ///
  /// While the key has unconfirmed edits, their value replaces the older one.
  private func usableFallback(of wait: Wait<Value>, _ key: HashedKey<Key>) -> Fallback<Value>? {
    let (waitLimits, demand) = (wait.waitLimits, wait.waitLimits.policy.demand)
    guard let fallback = waitLimits.fallback else { return nil }
    if !edits.isEmpty, let edited = edits[key.key] {
      return edited.shown.map { Fallback(CachedValue(value: $0, timing: edited.shownTiming, isPersisted: false)) }
    }
    guard demand.permitsFallback(to: fallback.held.freshness(at: lifetimes.now())) else { return nil }
    // A flight that another one has replaced does not notice a later write. The look-up does.
    let isReplaced = wait.flight.isReplaced
    if !isReplaced, !table.isInvalidated(fallback.held, of: key, since: waitLimits.invalidationVersion) {
      return fallback
    }
    return olderValueThatStands(key, accepting: demand)
  }

  /// Returns the older value of a key that a load still finds.
  ///
  /// After the end of a flight, a sweep can forget the invalidations since its beginning. All values of that time then
  /// count as invalidated, although the invalidations may concern other keys. Neither tier returns a value that they
  /// concern.
  ///
  /// A fresh value is another one than the older value. A stale value can be another one, too, because a later flight
  /// stored it.
  private func olderValueThatStands(_ key: HashedKey<Key>, accepting demand: Demand) -> Fallback<Value>? {
    let time = lifetimes.now()
    func isOlder(_ timing: Timing) -> Bool {
      let freshness = timing.freshness(at: time)
      return demand.permitsFallback(to: freshness) && !freshness.isFresh
    }
    if let held = table.peek(key) { return isOlder(held.timing) ? Fallback(held) : nil }
    guard secondTier != nil, let stored = records.storedValue(of: key), isOlder(stored.timing) else { return nil }
    return Fallback(
      CachedValue(value: stored.value, timing: stored.timing, isPersisted: true), isFromSecondTier: true)
  }
}
