import Synchronization

extension EntryTable {
  /// The options of the flights of a table.
  @usableFromInline
  struct FlightOptions: Sendable {
    /// The executor of the flights' tasks; nil for the global executor.
    @usableFromInline let taskExecutor: (any TaskExecutor)?
    /// Whether ``taskExecutor`` is given. A test of that property would copy it.
    @usableFromInline let hasTaskExecutor: Bool
    /// Whether a flight completes and publishes its value after all its waiters have left.
    @usableFromInline let completesAbandonedFlights: Bool
    /// Whether the cache has a second tier, which may hold a value that memory does not hold.
    @usableFromInline let hasSecondTier: Bool

    @inlinable
    init(taskExecutor: (any TaskExecutor)?, completesAbandonedFlights: Bool, hasSecondTier: Bool = false) {
      self.taskExecutor = taskExecutor
      hasTaskExecutor = taskExecutor != nil
      self.hasSecondTier = hasSecondTier
      self.completesAbandonedFlights = completesAbandonedFlights
    }
  }

  /// Ends a flight that still has its entry, and gives its result to the waiters.
  ///
  /// The flight leaves its entry first, so that a waiter that resumes and loads again starts a new flight.
  @inlinable
  func complete(_ flight: Flight<Value>, _ outcome: FlightOutcome<Value>, of key: HashedKey<Key>) {
    end(flight, of: key)
    flight.complete(outcome)
  }

  /// Ends a flight whose result is not stored, before it completes.
  ///
  /// The entry must not wait for the flight any more. A load with an older value learns if a write has taken the entry.
  ///
  /// - Parameters:
  ///   - flight: The flight.
  ///   - key: The key.
  ///   - pause: The time during which an older value is not due for a refresh; nil for none.
  /// - Returns: Whether the entry belonged to the flight, and has no flight now.
  @usableFromInline
  @discardableResult
  func endWithoutStoring(_ flight: Flight<Value>, of key: HashedKey<Key>, pause: RetryPause? = nil) -> Bool {
    let isOwn = end(flight, of: key, pause: pause)
    if !isOwn { flight.noteDisowned() }
    return isOwn
  }

  /// Creates a flight for a key. The load that leads the flight registers it in the entry.
  ///
  /// If the last waiter leaves, the flight removes its entry and cancels its work, unless it must complete without
  /// waiters. A flight with a shared `work` does so when the last waiter of all its flights leaves.
  @inlinable
  func makeFlight(
    for key: HashedKey<Key>, work: FlightWork? = nil, priority: TaskPriority, flightOptions: FlightOptions
  ) -> Flight<Value> {
    EntryFlight(for: key, in: self, work: work, priority: priority, flightOptions: flightOptions)
  }

  /// Notes that the result of a flight was not stored. Called after the flight has left its entry.
  ///
  /// Nothing has compared the result with the invalidations since the flight began, and its tags are not known. Callers
  /// that began after any of them therefore load again.
  @inlinable
  func noteUnstoredResult(of flight: Flight<Value>) {
    if newestInvalidation.load(ordering: .acquiring) > flight.invalidationVersion { flight.noteInvalidation() }
  }

  /// Marks a flight as not covering the second tier, because the second tier has a value and the flight fetches
  /// another one.
  ///
  /// From now on, no load joins the flight before it has looked in the second tier.
  @usableFromInline
  func leaveSecondTierToNextLoad(_ flight: Flight<Value>, hash: UInt64) {
    shards.withShard(of: hash) { _ in flight.leaveSecondTierToNextLoad() }
  }

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
