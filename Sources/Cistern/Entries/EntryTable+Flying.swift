import Synchronization

extension EntryTable {
  /// How a load without a hit goes on.
  @usableFromInline
  struct Pilot: Sendable {
    /// Where flights' tasks run; nil for the global pool.
    @usableFromInline let taskExecutor: (any TaskExecutor)?
    /// Whether a flight whose waiters have all left completes and is published.
    @usableFromInline let completesAbandonedFlights: Bool

    @inlinable
    init(taskExecutor: (any TaskExecutor)?, completesAbandonedFlights: Bool) {
      self.taskExecutor = taskExecutor
      self.completesAbandonedFlights = completesAbandonedFlights
    }
  }

  /// A flight for a key, which the load that leads it registers. When its last waiter leaves, its entry goes and its
  /// work is cancelled, unless it is to complete all the same.
  @inlinable
  func makeFlight(
    forKey key: Key, hash: UInt64, work: FlightWork = FlightWork(), priority: TaskPriority, pilot: Pilot
  ) -> Flight<Value> {
    let era = newestInvalidation.load(ordering: .acquiring)
    guard !pilot.completesAbandonedFlights else {
      return Flight(work: work, priority: priority, era: era, counts: waiterCounts)
    }
    return Flight(work: work, priority: priority, era: era, counts: waiterCounts) { [self] flight in
      end(flight, forKey: key, hash: hash)
    }
  }

  /// Starts the task of one or several flights. It inherits the caller's task-local values.
  ///
  /// - Parameter body: fetches, publishes and lands; skipped where all waiters left before it began.
  @inlinable
  func start(
    _ work: FlightWork, priority: TaskPriority, pilot: Pilot, _ body: @escaping @Sendable () async -> Void
  ) {
    let flight: @Sendable () async -> Void = { if !work.isCancelled { await body() } }
    // A task that is told of no executor at all has less to ask each time it is switched to.
    if let taskExecutor = pilot.taskExecutor {
      work.run(Task(executorPreference: taskExecutor, priority: priority, operation: flight))
    } else {
      work.run(Task(priority: priority, operation: flight))
    }
  }
}
