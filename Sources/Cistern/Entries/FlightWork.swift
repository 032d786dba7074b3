import Locking

/// The task that a flight's result comes from; the flights of a bulk load share one. Cancelled when the last of its
/// flights was abandoned, and raised to the highest priority that any of them asks for.
@usableFromInline
class FlightWork: @unchecked Sendable {
  // Sendable holds: its state is reached only through the lock, and so is that of a ``Flight``, which is the only kind.

  // The task never throws. It is of the kind that may, since a closure that may not takes another around it.
  private enum State {
    /// Once flights were made for it, until the task is there.
    case preparing(flights: Int, raiseTo: Urgency?)
    /// Once the task is there, until it is cancelled or forgotten.
    case running(Task<Void, any Error>, flights: Int)
    /// Once the last flight was abandoned.
    case cancelled
  }

  private let state: Guarded<State>

  /// Creates the work of one flight or, held, of several: then it is not given up before ``leaveOne()`` was called once
  /// more than flights were abandoned.
  @usableFromInline
  convenience init(isHeld: Bool = false) {
    self.init(flights: isHeld ? 1 : 0)
  }

  @usableFromInline
  init(flights: Int) {
    state = Guarded(.preparing(flights: flights, raiseTo: nil))
  }

  /// Counts a flight in. All flights are counted before the task is given.
  @usableFromInline
  final func addFlight() {
    state.withLock { state in
      guard case .preparing(let flights, let raised) = state else { preconditionFailure("the task is there already") }
      state = .preparing(flights: flights + 1, raiseTo: raised)
    }
  }

  /// Gives the task, which has just started.
  @usableFromInline
  final func run(_ task: Task<Void, any Error>) {
    let raised: Urgency? = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised):
        state = .running(task, flights: flights)
        return raised
      case .cancelled:
        return nil
      case .running:
        preconditionFailure("a flight has one task")
      }
    }
    if let raised { task.escalatePriority(to: raised.priority) }
    if isCancelled { task.cancel() }
  }

  /// One of the flights was abandoned.
  @usableFromInline
  final func leaveOne() {
    let task: Task<Void, any Error>? = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised):
        state = flights > 1 ? .preparing(flights: flights - 1, raiseTo: raised) : .cancelled
        return nil
      case .running(let task, let flights):
        state = flights > 1 ? .running(task, flights: flights - 1) : .cancelled
        return flights > 1 ? nil : task
      case .cancelled:
        return nil
      }
    }
    task?.cancel()
  }

  /// A waiter has this priority, which is higher than that of all others so far.
  @usableFromInline
  final func raise(to urgency: Urgency) {
    let task: Task<Void, any Error>? = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised):
        state = .preparing(flights: flights, raiseTo: max(raised ?? urgency, urgency))
        return nil
      case .running(let task, _):
        return task
      case .cancelled:
        return nil
      }
    }
    task?.escalatePriority(to: urgency.priority)
  }

  /// Whether the last flight was abandoned: nothing that is not under way yet should start.
  @usableFromInline
  final var isCancelled: Bool {
    state.withLock { if case .cancelled = $0 { true } else { false } }
  }
}
