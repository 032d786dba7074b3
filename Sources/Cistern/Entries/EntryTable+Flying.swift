import Synchronization

extension EntryTable {
  /// How a load without a hit goes on.
  @usableFromInline
  struct Pilot: Sendable {
    /// Where flights' tasks run; nil for the global pool.
    @usableFromInline let taskExecutor: (any TaskExecutor)?
    /// Whether a flight whose waiters have all left completes and is published.
    @usableFromInline let completesAbandonedFlights: Bool
    /// Whether a value that memory does not have may be elsewhere.
    @usableFromInline let hasSecondTier: Bool

    @inlinable
    init(taskExecutor: (any TaskExecutor)?, completesAbandonedFlights: Bool, hasSecondTier: Bool = false) {
      self.taskExecutor = taskExecutor
      self.hasSecondTier = hasSecondTier
      self.completesAbandonedFlights = completesAbandonedFlights
    }
  }

  /// Gives a flight's result to those who wait for it. Its entry goes first, where that is the flight's own still, because
  /// nothing was put into memory: whoever is resumed, and asks again, starts anew.
  @inlinable
  func land(_ flight: Flight<Value>, _ outcome: Flight<Value>.Outcome, forKey key: Key, hash: UInt64) {
    end(flight, forKey: key, hash: hash)
    flight.land(outcome)
  }

  /// A flight for a key, which the load that leads it registers. When its last waiter leaves, its entry goes and its
  /// work is cancelled, unless it is to complete all the same.
  @inlinable
  func makeFlight(
    forKey key: Key, hash: UInt64, work: FlightWork? = nil, priority: TaskPriority, pilot: Pilot
  ) -> Flight<Value> {
    EntryFlight(
      forKey: key, hash: hash, in: self, work: work, priority: priority,
      era: newestInvalidation.load(ordering: .acquiring), pilot: pilot)
  }

  /// The second tier has something that others may want, and the flight brings something else. No load joins the flight
  /// after this without having looked there.
  @usableFromInline
  func leaveSecondTierToOthers(_ flight: Flight<Value>, hash: UInt64) {
    shards.withShard(of: hash) { _ in flight.leaveSecondTierToOthers() }
  }
}
