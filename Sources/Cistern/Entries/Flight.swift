import Locking

/// One fetch on its way, and who waits for it: storage around ``FlightState``. It locks, asks, unlocks, then acts.
///
/// Its lock may be taken inside a shard's, never the other way round.
@usableFromInline
final class Flight<Value: Sendable>: Sendable {
  @usableFromInline typealias Outcome = Result<Value, any Error>

  @usableFromInline let state: Guarded<FlightState<Value, WaitingTask<Value>>>
  /// The task, shared by all flights of one bulk load.
  @usableFromInline let work: FlightWork

  @inlinable
  init(work: FlightWork, priority: TaskPriority) {
    self.work = work
    state = Guarded(FlightState(priority: priority))
    work.addFlight()
  }

  /// Registers a waiter, who must come to ``wait(as:abandon:)`` or bring the result itself, as a leader may. Called
  /// inside the shard's critical section.
  ///
  /// - Returns: its number, and the priority that ``work`` is to be raised to outside all locks, because that runs
  ///   handlers of the user's; nothing where the flight was abandoned.
  @inlinable
  func join(priority: TaskPriority) -> FlightState<Value, WaitingTask<Value>>.JoinDecision {
    state.withLock { $0.join(priority: priority) }
  }

  /// Waits for the result, as a waiter that joined. Throws `CancellationError` promptly when the task is cancelled.
  ///
  /// - Parameter abandon: called, outside all locks, when the last waiter has left; it takes the entry out. Nil where
  ///   the flight is to complete without waiters.
  @inlinable
  func wait(as waiter: Int, abandon: (@Sendable () -> Void)?) async throws -> Value {
    try await withTaskPriorityEscalationHandler {
      // The task may have been escalated since it joined, when nothing here would have heard of it.
      let priority = Task.currentPriority
      return await withTaskCancellationHandler {
        await WaitingTask.suspend { task in
          let (raised, decision) = state.withLock { ($0.raise(to: priority), $0.wait(waiter, task)) }
          if let raised { work.raise(to: raised) }
          switch decision {
          case .suspended: break
          case .resume(let outcome): task.resume(outcome)
          }
        }
      } onCancel: {
        leave(waiter, abandon: abandon)
      }
    } onPriorityEscalated: { _, priority in
      if let raised = state.withLock({ $0.raise(to: priority) }) { work.raise(to: raised) }
    }.get()
  }

  @inlinable
  func leave(_ waiter: Int, abandon: (@Sendable () -> Void)?) {
    let decision = state.withLock { $0.leave(waiter, abandoningIfLast: abandon != nil) }
    if decision.abandons {
      // The entry first: nobody may find a flight that is cancelled.
      abandon?()
      work.leaveOne()
    }
    decision.resume?.resume(.failure(CancellationError()))
  }

  /// Gives every waiter the result, outside all locks. The entry is no longer in progress by now.
  @inlinable
  func land(_ outcome: Outcome) {
    for task in state.withLock({ $0.land(outcome) }) { task.resume(outcome) }
  }

  /// Whether its last waiter left and it was cancelled.
  var isAbandoned: Bool { state.withLock { if case .abandoned = $0.phase { true } else { false } } }

  /// Waiters that have neither left nor been resumed.
  @inlinable
  var waiterCount: Int { state.withLock { $0.remaining } }
}
