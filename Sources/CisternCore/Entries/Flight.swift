import Locking
import Synchronization

/// One load of a key in progress with its waiters: the second-tier look-up, and then the fetch. The storage around
/// ``FlightState``.
///
/// It locks, asks the state machine, unlocks, and then acts. Its lock may be taken inside a shard's lock, never the
/// other way round.
@usableFromInline
class Flight<Value: Sendable>: FlightWork, @unchecked Sendable {
  // Sendable holds: mutable state is atomic, or is accessed under the lock. `timing` is written before the flight
  // completes, and read only after that.
  @usableFromInline typealias Outcome = FlightOutcome<Value>

  @usableFromInline typealias State = FlightState<Value, WaitingTask<Value>>

  // The lock is beside the state, not around it. A lock around a generic state needs the state's type metadata when
  // it is destroyed.
  @usableFromInline let lock = Guarded(())
  /// The state of the flight, guarded by `lock`. Access it only through ``withState(_:)``.
  @exclusivity(unchecked)
  @usableFromInline nonisolated(unsafe) var state: State
  /// The work that all flights of one bulk load share; nil for a flight with its own work.
  @usableFromInline let sharedWork: FlightWork?
  @usableFromInline let counts: WaiterCounts
  /// The rule for a flight whose last waiter has left.
  @usableFromInline let abandonment: Abandonment
  /// The table's invalidation version when the flight began.
  @usableFromInline let invalidationVersion: InvalidationVersion
  /// The second tier's invalidation version when the fetch began. It includes invalidations by other processes.
  @usableFromInline let tierVersionAtFetch = Atomic<InvalidationVersion>(.zero)
  /// Whether an invalidation since the flight began concerns its value, which was not stored. Set before the flight
  /// completes.
  @usableFromInline let invalidated = Atomic<Bool>(false)
  /// Whether the second tier may have lost the key's record since the flight began. Set under the shard's lock.
  @usableFromInline let lostRecord = Atomic<Bool>(false)
  /// Whether an older fetch has changed the key's record since the flight began, and left the flight in progress. Set
  /// under the shard's lock. A load reads it without the lock, and its promotion compares again under the lock.
  @usableFromInline let newerRecord = Atomic<Bool>(false)
  /// Whether another flight has taken the entry. Set under the shard's lock.
  @usableFromInline let replaced = Atomic<Bool>(false)
  /// Whether a write had taken the entry when the flight ended. Set before the flight completes.
  @usableFromInline let disowned = Atomic<Bool>(false)
  /// Whether a load can join the flight without a look-up in the second tier.
  ///
  /// It is true if the leader looks there, or if the cache has no second tier. Changed under the shard's lock.
  @usableFromInline let secondTierCover: Atomic<Bool>
  /// Whether the flight began as a refresh, without waiters. Guarded by the shard's lock.
  @usableFromInline let startedAsRefresh = Atomic<Bool>(false)
  /// Whether the flight completed with a value from the second tier. Set before the flight completes.
  @usableFromInline let fromSecondTier = Atomic<Bool>(false)

  /// The lifetime and the tags with which the result was stored; nil for a result that was not stored.
  ///
  /// The flight's task writes it before the flight completes, and waiters read it after they resumed. The lock of the
  /// state orders both.
  @exclusivity(unchecked)
  @usableFromInline nonisolated(unsafe) final var timing: Timing?

  /// The rule for an abandoned flight, and whether other loads join it without a look-up in the second tier.
  @usableFromInline
  struct Kind {
    /// The rule for a flight whose last waiter has left.
    @usableFromInline let abandonment: Abandonment
    /// Whether no load needs to look in the second tier beside the flight.
    @usableFromInline let coversSecondTier: Bool

    @inlinable
    init(_ abandonment: Abandonment = .never, coversSecondTier: Bool = true) {
      self.abandonment = abandonment
      self.coversSecondTier = coversSecondTier
    }
  }

  @inlinable
  init(
    work: FlightWork? = nil, priority: TaskPriority, invalidationVersion: InvalidationVersion = .zero,
    counts: WaiterCounts = WaiterCounts(),
    kind: Kind = Kind()
  ) {
    sharedWork = work
    secondTierCover = Atomic(kind.coversSecondTier)
    self.counts = counts
    self.invalidationVersion = invalidationVersion
    abandonment = kind.abandonment
    unsafe state = FlightState(priority: priority)
    super.init(flights: 1)
    work?.addFlight()
  }

  /// The work that produces the result: the flight itself, or the shared work of a bulk load.
  @inlinable
  final var work: FlightWork { sharedWork ?? self }

  /// Runs `body` with the lock held.
  @inlinable
  @inline(__always)
  final func withState<Result>(_ body: (inout State) -> Result) -> Result {
    // The result may be in any isolation region, because the state contains only Sendable values.
    lock.withLock { _ in
      nonisolated(unsafe) let result = unsafe body(&state)
      return unsafe result
    }
  }

  /// Registers a waiter. Called inside the shard's critical section.
  ///
  /// The waiter must call ``wait(as:)`` or ``withdraw(_:)``, or be the leader that completes the flight.
  ///
  /// - Returns: The waiter's number, and the priority to which the caller must raise ``work``. The caller raises it
  ///   outside all locks, because that runs a user's handlers. An abandoned flight refuses the waiter, and so does an
  ///   unattended one whose work is cancelled.
  @inlinable
  final func join(_ urgency: Urgency) -> State.JoinDecision {
    withState { state in
      let decision = state.join(urgency)
      guard case .unattended = decision else { return decision }
      return attend(&state) ? state.join(urgency) : .refused
    }
  }

  /// Notes the lifetime and the tags with which the result was stored. Call it before the flight completes.
  @inlinable
  final func noteStored(_ timing: Timing?) { unsafe self.timing = timing }

  /// The lifetime and the tags with which the result was stored. Read it after the flight has completed.
  @inlinable
  final var storedTiming: Timing? { unsafe timing }

  /// Keeps the flight running even if all waiters leave, because the cache itself needs the result.
  @inlinable
  final func keep() {
    withState { $0.keep() }
  }

  /// Waits for the result, as a waiter that joined. Throws `CancellationError` promptly if the task is cancelled.
  ///
  /// Inlined and minimal: the frames of a waiting task must fit into the first piece of the task's stack. Each
  /// further piece is an allocation.
  @inlinable
  @inline(__always)
  final nonisolated(nonsending) func wait(as waiter: Int) async -> FlightOutcome<Value> {
    await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        await WaitingTask.suspend { park($0, as: waiter) }
      } onPriorityEscalated: { _, priority in
        escalate(to: priority)
      }
    } onCancel: {
      cancelWait(of: waiter)
    }
  }

  /// Registers a suspended waiter, or resumes it at once if its result is known.
  @inlinable
  @inline(never)
  final func park(_ task: WaitingTask<Value>, as waiter: Int) {
    // No handler was installed between the join and this point, so an escalation in between is noticed only here.
    let urgency = Urgency(Task.currentPriority)
    let (raised, decision) = withState { state in
      let raised = state.raise(to: urgency)
      let decision = state.wait(waiter, task)
      if case .suspended = decision { counts.suspended.wrappingAdd(1, ordering: .relaxed) }
      return (raised, decision)
    }
    if let raised { work.raise(to: raised) }
    switch decision {
    case .suspended: break
    case .resume(let outcome): task.resume(outcome)
    }
  }

  /// Raises the priority of the flight, because a waiting task was escalated.
  @inlinable
  final func escalate(to priority: TaskPriority) {
    if let raised = withState({ $0.raise(to: Urgency(priority)) }) { work.raise(to: raised) }
  }

  /// Ends the wait of a cancelled task.
  @inlinable
  final func cancelWait(of waiter: Int) {
    leave(waiter, with: .failed(CancellationError()), isCancelled: true)
  }

  /// Ends one waiter's wait with an outcome. Does nothing if the wait has ended. Called outside all locks.
  ///
  /// - Parameters:
  ///   - waiter: The number of the waiter.
  ///   - outcome: The outcome that the waiter gets.
  ///   - keeps: Whether the flight continues even if all other waiters leave.
  ///   - isCancelled: Whether the wait ends because of a cancellation, which is counted.
  @inlinable
  final func leave(_ waiter: Int, with outcome: Outcome, keepingFlight keeps: Bool = false, isCancelled: Bool = false) {
    let decision = withState { state in
      let decision = state.leave(waiter, with: outcome, abandonment: abandonment, keepingFlight: keeps)
      // Counted before the waiter resumes, because it may read the counts.
      if decision.resume != nil { counts.suspended.wrappingSubtract(1, ordering: .relaxed) }
      if decision.leaves, isCancelled { counts.cancelled.wrappingAdd(1, ordering: .relaxed) }
      return decision
    }
    if decision.leavesWork { leaveWork() }
    decision.resume?.resume(outcome)
  }

  /// Leaves the work, because the last waiter has left. Called outside all locks.
  @inlinable
  final func leaveWork() {
    // The entry is removed first: no load may find a cancelled flight. An unattended flight keeps its entry until its
    // work is cancelled.
    if case .atOnce = abandonment { abandon() }
    work.removeFlight()
  }

  /// Removes the flight's entry from its table. Subclasses override it; a flight without a table does nothing. Called
  /// outside all locks.
  ///
  /// The flight does this, not each waiter, because the frame of a waiting task must stay small.
  @usableFromInline
  func abandon() {}

  /// Completes the flight: gives the result to every waiter. Called outside all locks, after the flight has left its
  /// entry.
  @inlinable
  final func complete(_ outcome: Outcome) {
    let tasks = withState { state in
      let tasks = state.complete(outcome)
      counts.suspended.wrappingSubtract(tasks.count, ordering: .relaxed)
      return tasks
    }
    withExtendedLifetime(tasks.announced) {}
    tasks.first?.resume(outcome)
    for task in tasks.others { task.resume(outcome) }
  }

  /// Whether an invalidation concerned the flight's value, which was not stored.
  @inlinable
  final var isInvalidated: Bool { invalidated.load(ordering: .acquiring) }

  /// Notes that an invalidation concerns the flight's value.
  @usableFromInline
  final func noteInvalidation() { invalidated.store(true, ordering: .releasing) }

  /// Returns whether a caller must not use the flight's value. `invalidationVersion` is the invalidation version when
  /// the caller began.
  ///
  /// The flight does not record the first invalidation that concerned its value. Therefore, every caller that began
  /// after any invalidation since the flight began loads again.
  @inlinable
  final func isInvalidated(since invalidationVersion: InvalidationVersion) -> Bool {
    isInvalidated && invalidationVersion > self.invalidationVersion
  }

  /// Whether a caller waits for the result or is about to wait.
  @usableFromInline
  final var isAwaited: Bool { withState { $0.isAwaited } }

  /// Whether this waiter still waits for the result, or is about to wait for it.
  final func isAwaited(by waiter: Int) -> Bool { withState { $0.isAwaited(by: waiter) } }

  /// The number of waiters that have neither left nor resumed. The cache counts as one if it keeps the flight.
  @inlinable
  final var waiterCount: Int { withState { $0.remaining } }
}
