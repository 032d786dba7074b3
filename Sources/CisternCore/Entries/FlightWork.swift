import Locking
import Synchronization

/// The task that produces the result of one flight, or of all flights of a bulk load.
///
/// The work counts the flights that need it. A flight of a bulk load whose last waiter left stays joinable, and counts
/// again when a caller joins it. When no flight counts, the task is cancelled. Its priority rises to the highest
/// priority that any flight requests.
///
/// The lock may be taken inside a flight's lock, never the other way round.
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
    case running(RunningTask, flights: Int)
    /// No flight counts on the task any more.
    case cancelled
    /// The task of a bulk load has completed all flights.
    case ended
  }

  /// A task that has been started.
  private enum RunningTask {
    /// The task of one flight.
    case single(Task<Void, any Error>)
    /// The task of a bulk load.
    case bulk(BulkTask)

    var task: Task<Void, any Error> {
      switch self {
      case .single(let task): task
      case .bulk(let bulk): bulk.task
      }
    }
  }

  /// The task of a bulk load. A class, so that the state of each flight stays small.
  private final class BulkTask: Sendable {
    let task: Task<Void, any Error>
    /// Abandons the flights without waiters. It refers to the flights, which refer to the work, until the work ends.
    let abandonUnattended: @Sendable () -> Void

    init(_ task: Task<Void, any Error>, abandonUnattended: @escaping @Sendable () -> Void) {
      self.task = task
      self.abandonUnattended = abandonUnattended
    }
  }

  private let state: Guarded<State>
  /// Whether the state is `cancelled`, for reads without the lock. Stored under the lock.
  private let cancelled = Atomic<Bool>(false)
  /// The identity of this work in the waits between fetches.
  @usableFromInline let identity = WorkIdentity()

  /// Creates the work of one flight or of a bulk load.
  ///
  /// - Parameter isHeldByCreator: Whether the creator holds the work. Then the work is cancelled only after the creator has
  ///   also called ``releaseByCreator()``.
  @usableFromInline
  convenience init(isHeldByCreator: Bool = false) {
    self.init(flights: isHeldByCreator ? 1 : 0)
  }

  @usableFromInline
  init(flights: Int) {
    state = Guarded(.preparing(flights: flights, raiseTo: nil))
  }

  /// Counts a flight. All flights must be counted before ``attach(_:)``.
  @usableFromInline
  final func addFlight() {
    state.withLock { state in
      guard case .preparing(let flights, let raised) = state else { preconditionFailure("the task was already stored") }
      state = .preparing(flights: flights + 1, raiseTo: raised)
    }
  }

  /// Stores the task, which has just been started. Raises its priority and cancels it if that was requested before.
  @usableFromInline
  final func attach(_ task: Task<Void, any Error>) {
    let (raised, isCancelled): (Urgency?, Bool) = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised):
        state = .running(.single(task), flights: flights)
        return (raised, false)
      case .cancelled:
        return (nil, true)
      case .running, .ended:
        preconditionFailure("the task was stored twice")
      }
    }
    if let raised { task.escalatePriority(to: raised.priority) }
    if isCancelled { task.cancel() }
  }

  /// Stores the task of a bulk load, which has just been started. The creator holds the work, which is therefore not
  /// cancelled. The task may have called ``end()``.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - abandonUnattended: Abandons the flights without waiters. Called outside all locks, when the work is cancelled.
  @usableFromInline
  final func attachBulk(_ task: Task<Void, any Error>, abandonUnattended: @escaping @Sendable () -> Void) {
    let raised: Urgency? = state.withLock { state in
      guard case .preparing(let flights, let raised) = state else { return nil }
      state = .running(.bulk(BulkTask(task, abandonUnattended: abandonUnattended)), flights: flights)
      return raised
    }
    if let raised { task.escalatePriority(to: raised.priority) }
  }

  /// Notes that the task of a bulk load has completed all flights.
  @usableFromInline
  final func end() {
    // Released outside the lock.
    let ended = state.withLock { state in
      defer { if case .cancelled = state {} else { state = .ended } }
      return state
    }
    withExtendedLifetime(ended) {}
  }

  /// Notes that one flight has no waiters any more. After the last one, cancels the task.
  @usableFromInline
  final func removeFlight() {
    let left: State? = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised) where flights > 1:
        state = .preparing(flights: flights - 1, raiseTo: raised)
        return nil
      case .running(let running, let flights) where flights > 1:
        state = .running(running, flights: flights - 1)
        return nil
      case .preparing, .running, .cancelled:
        cancelled.store(true, ordering: .releasing)
        defer { state = .cancelled }
        return state
      case .ended:
        return nil
      }
    }
    guard case .running(let running, _) = left else { return }
    // The entries are removed first: no load may find a cancelled flight.
    if case .bulk(let bulk) = running { bulk.abandonUnattended() }
    running.task.cancel()
  }

  /// Notes that the creator no longer holds the work. It counts as one flight.
  @usableFromInline
  final func releaseByCreator() { removeFlight() }

  /// Counts a flight again whose last waiter had left.
  ///
  /// - Returns: Whether the work still runs. If it was cancelled, the flight takes no waiters any more.
  final func addFlightAgain() -> Bool {
    state.withLock { state in
      switch state {
      case .preparing(let flights, let raised): state = .preparing(flights: flights + 1, raiseTo: raised)
      case .running(let running, let flights): state = .running(running, flights: flights + 1)
      case .cancelled, .ended: return false
      }
      return true
    }
  }

  /// Raises the task's priority to at least this one.
  @usableFromInline
  final func raise(to urgency: Urgency) {
    let task: Task<Void, any Error>? = state.withLock { state in
      switch state {
      case .preparing(let flights, let raised):
        state = .preparing(flights: flights, raiseTo: max(raised ?? urgency, urgency))
        return nil
      case .running(let running, _):
        return running.task
      case .cancelled, .ended:
        return nil
      }
    }
    task?.escalatePriority(to: urgency.priority)
  }

  /// Whether no flight counts on the work any more. Operations that have not begun must not begin then.
  @usableFromInline
  final var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
}
