import Locking
import Synchronization

/// The task that produces the result of one flight, or of all flights of a bulk load.
///
/// The task is cancelled when the last of its flights is abandoned. Its priority rises to the highest priority that
/// any flight requests.
@usableFromInline
class FlightWork: @unchecked Sendable {
  // Sendable holds: the state is accessed only under its lock, or is atomic. The same is true of ``Flight``, the only
  // direct subclass.

  // The task's type may throw, although the task never does. A closure that does not throw would be wrapped in
  // another closure.
  private enum State {
    /// No task has been started yet, and this number of flights counts on it.
    case preparing(flights: Int, raiseTo: Urgency?)
    /// The task has been started, and this number of flights counts on it.
    case running(Task<Void, any Error>, flights: Int)
    /// The last flight was abandoned.
    case cancelled
  }

  private let state: Guarded<State>
  /// Whether the state is `cancelled`, for reads without the lock. Stored under the lock.
  private let cancelled = Atomic<Bool>(false)
  /// The identity of this work in the waits between fetches.
  @usableFromInline let identity = WorkIdentity()

  /// Creates the work of one flight or of a bulk load.
  ///
  /// - Parameter isHeld: Whether the creator holds the work. Then the work is cancelled only after the creator has
  ///   also called ``leaveOne()``.
  @usableFromInline
  convenience init(isHeld: Bool = false) {
    self.init(flights: isHeld ? 1 : 0)
  }

  @usableFromInline
  init(flights: Int) {
    state = Guarded(.preparing(flights: flights, raiseTo: nil))
  }

  /// Counts a flight. All flights must be counted before ``run(_:)``.
  @usableFromInline
  final func addFlight() {
    state.withLock { state in
      guard case .preparing(let flights, let raised) = state else { preconditionFailure("the task was already stored") }
      state = .preparing(flights: flights + 1, raiseTo: raised)
    }
  }

  /// Stores the task, which has just been started. Raises its priority and cancels it if that was requested before.
  @usableFromInline
  final func run(_ task: Task<Void, any Error>) {
    let (raised, isCancelled): (Urgency?, Bool) = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised):
        state = .running(task, flights: flights)
        return (raised, false)
      case .cancelled:
        return (nil, true)
      case .running:
        preconditionFailure("the task was stored twice")
      }
    }
    if let raised { task.escalatePriority(to: raised.priority) }
    if isCancelled { task.cancel() }
  }

  /// Notes that one flight was abandoned, or that the creator no longer holds the work. After the last one, cancels
  /// the task.
  @usableFromInline
  final func leaveOne() {
    let task: Task<Void, any Error>? = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised) where flights > 1:
        state = .preparing(flights: flights - 1, raiseTo: raised)
        return nil
      case .running(let task, let flights) where flights > 1:
        state = .running(task, flights: flights - 1)
        return nil
      case .preparing, .running, .cancelled:
        cancelled.store(true, ordering: .releasing)
        defer { state = .cancelled }
        if case .running(let task, _) = state { return task }
        return nil
      }
    }
    task?.cancel()
  }

  /// Raises the task's priority to at least this one.
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

  /// Whether the last flight was abandoned. Operations that have not begun must not begin then.
  @usableFromInline
  final var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
}
