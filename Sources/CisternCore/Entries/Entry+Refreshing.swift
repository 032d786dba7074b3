extension Entry {
  /// The result of a request for a refresh without waiters.
  enum RefreshDecision {
    /// The caller starts this flight. It has no waiters, and continues without them.
    case start(Flight<Value>)
    /// A flight is in progress, or the pause after a failure holds.
    case decline
    /// The value is past its grace period. The entry still holds it, because its end must be announced first.
    case expired
  }

  /// Decides whether a flight without waiters begins.
  ///
  /// - Parameters:
  ///   - entry: The key's entry. It changes if a flight begins.
  ///   - now: The time of the request.
  ///   - makeFlight: Creates a flight. Called only if one begins.
  /// - Returns: The decision.
  static func refresh(_ entry: inout Entry?, at now: MonotonicTime, makeFlight: () -> Flight<Value>) -> RefreshDecision
  {
    if let held = entry?.held {
      switch held.freshness(at: now) {
      case .gone: return .expired
      case .stale(_, refreshDue: false, _): return .decline
      case .fresh, .refreshDue, .stale: break
      }
    }
    // The entry of an abandoned flight is about to be removed.
    if let flight = entry?.flight, !flight.isAbandoned { return .decline }
    let flight = makeFlight()
    flight.beginRefresh()
    entry = entry?.held.map { .refreshing(Refreshing(held: $0, flight: flight)) } ?? .inProgress(flight)
    return .start(flight)
  }
}

extension EntryTable {
  /// Decides whether a flight without waiters begins, in one critical section.
  ///
  /// Declines during the pause after a failed refresh. A flight that fails adds its pause and leaves its entry in one
  /// critical section, so that this section finds one of them.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - now: The time of the clock.
  ///   - makeFlight: Creates a flight. Called only if one begins.
  /// - Returns: The decision.
  func refresh(
    _ key: HashedKey<Key>, at now: MonotonicTime, makeFlight: () -> Flight<Value>
  ) -> Entry<Value>.RefreshDecision {
    // Released outside the lock.
    var replaced: Entry<Value>?
    defer { withExtendedLifetime(replaced) {} }
    return shards.withShard(of: key.hash) { shard in
      if !retryPauses.isEmpty, retryPauses.holdsAfterRefresh(of: key, at: now) { return .decline }
      let number = shard.locate(key.key, fingerprint: key.fingerprint, budget: budget)
      let decision: Entry<Value>.RefreshDecision
      (decision, replaced, _) = shard.transition(key, at: number, budget: budget) { entry in
        Entry.refresh(&entry, at: now, makeFlight: makeFlight)
      }
      if case .start = decision {
        shard.counters.refreshes += 1
        shard.counters.flights += 1
      }
      return decision
    }
  }
}
