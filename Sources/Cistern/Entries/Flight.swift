import Locking
import Synchronization

/// One fetch on its way, and who waits for it: storage around ``FlightState``. It locks, asks, unlocks, then acts.
///
/// Its lock may be taken inside a shard's, never the other way round.
@usableFromInline
class Flight<Value: Sendable>: FlightWork, @unchecked Sendable {
  // Sendable holds: what is not constant or atomic is reached only through the lock.
  @usableFromInline typealias Outcome = Result<Value, any Error>

  @usableFromInline typealias State = FlightState<Value, WaitingTask<Value>>

  // Beside its lock, not in it: a lock around a generic state would have to ask for the state's type when it goes.
  @usableFromInline let lock = Guarded(())
  /// Guarded by `lock`: see ``withState(_:)``.
  @exclusivity(unchecked)
  @usableFromInline nonisolated(unsafe) var state: State
  /// The work that all flights of one bulk load share; nil for a flight that is its own.
  @usableFromInline let sharedWork: FlightWork?
  @usableFromInline let counts: WaiterCounts
  /// Whether it is given up when its last waiter has left; else it completes without waiters.
  @usableFromInline let isAbandonable: Bool
  /// The number of the newest invalidation when it began.
  @usableFromInline let era: UInt64
  /// The second tier's newest invalidation when its fetch began, other processes' included.
  @usableFromInline let fetchedSince = Atomic<UInt64>(0)
  /// Whether what it brought came too late for an invalidation since it began, and was not stored. Set before it lands.
  @usableFromInline let invalidated = Atomic<Bool>(false)
  /// Whether the second tier lost the key's record since it began, and has told so. Guarded by the shard's lock.
  @usableFromInline let departed = Atomic<Bool>(false)
  /// Whether the flight brings the best that the second tier has: its leader looks there, or the cache has no second tier.
  /// Else a load that finds the entry without a value must look there itself. Changed under the shard's lock.
  @usableFromInline let coversSecondTier: Atomic<Bool>
  /// Whether the value that it landed with came from the second tier. Set before it lands.
  @usableFromInline let landedFromSecondTier = Atomic<Bool>(false)

  @inlinable
  init(
    work: FlightWork? = nil, priority: TaskPriority, era: UInt64 = 0, counts: WaiterCounts = WaiterCounts(),
    isAbandonable: Bool = false, coversSecondTier: Bool = true
  ) {
    sharedWork = work
    self.coversSecondTier = Atomic(coversSecondTier)
    self.counts = counts
    self.era = era
    self.isAbandonable = isAbandonable
    unsafe state = FlightState(priority: priority)
    super.init(flights: 1)
    work?.addFlight()
  }

  /// The task: its own, or that of a bulk load.
  @inlinable
  final var work: FlightWork { sharedWork ?? self }

  /// Runs `body` with the lock held.
  @inlinable
  @inline(__always)
  final func withState<Result>(_ body: (inout State) -> Result) -> Result {
    // The result may be of any region: a state's contents are only Sendable values.
    lock.withLock { _ in
      nonisolated(unsafe) let result = unsafe body(&state)
      return unsafe result
    }
  }

  /// Registers a waiter, who must come to ``wait(as:)`` or bring the result itself, as a leader may. Called inside
  /// the shard's critical section.
  ///
  /// - Returns: its number, and the priority that ``work`` is to be raised to outside all locks, because that runs
  ///   handlers of the user's; nothing where the flight was abandoned.
  @inlinable
  final func join(_ urgency: Urgency) -> FlightState<Value, WaitingTask<Value>>.JoinDecision {
    withState { $0.join(urgency) }
  }

  /// Its fetch begins.
  @inlinable
  final func noteFetch(tierEra: UInt64) { fetchedSince.store(tierEra, ordering: .relaxed) }

  /// The second tier's newest invalidation when its fetch began.
  @inlinable
  final var tierEra: UInt64 { fetchedSince.load(ordering: .relaxed) }

  /// The second tier has lost the key's record. In the shard's critical section.
  final func noteDeparture() { departed.store(true, ordering: .relaxed) }

  /// Whether what was read from the second tier may have left it since.
  @inlinable
  final var recordHasDeparted: Bool { departed.load(ordering: .relaxed) }

  /// The cache itself wants the result: the flight is not abandoned, whoever joins it and leaves.
  @inlinable
  final func keep() {
    withState { $0.keep() }
  }

  /// Waits for the result, as a waiter that joined. Throws `CancellationError` promptly when the task is cancelled.
  ///
  /// Inlined, and what it can do without is not there: a task's stack grows by 984 bytes at a time, each an allocation, and
  /// who waits for a flight is to find room in the first.
  @inlinable
  @inline(__always)
  final nonisolated(nonsending) func wait(as waiter: Int) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withTaskPriorityEscalationHandler {
        try await WaitingTask.suspend { park($0, as: waiter) }
      } onPriorityEscalated: { _, priority in
        escalate(to: priority)
      }
    } onCancel: {
      cancelWait(of: waiter)
    }
  }

  /// Suspended, a waiter comes to wait.
  @inlinable
  @inline(never)
  final func park(_ task: WaitingTask<Value>, as waiter: Int) {
    // The task may have been escalated since it joined, when nothing here would have heard of it.
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

  /// A waiting task was escalated.
  @inlinable
  final func escalate(to priority: TaskPriority) {
    if let raised = withState({ $0.raise(to: Urgency(priority)) }) { work.raise(to: raised) }
  }

  /// A waiter's task was cancelled.
  @inlinable
  final func cancelWait(of waiter: Int) {
    leave(waiter, with: CancellationError(), isCancelled: true)
  }

  /// Ends one waiter's wait with `error`, outside all locks; nothing where it has ended.
  ///
  /// - Parameters:
  ///   - keeps: whether the flight goes on in any case, also if later waiters leave.
  ///   - isCancelled: whether that is why, which is counted.
  @inlinable
  final func leave(_ waiter: Int, with error: any Error, keepingFlight keeps: Bool = false, isCancelled: Bool = false) {
    let decision = withState { state in
      let decision = state.leave(waiter, with: error, abandoningIfLast: isAbandonable, keepingFlight: keeps)
      // Before it is resumed: it may look at the counts.
      if decision.resume != nil { counts.suspended.wrappingSubtract(1, ordering: .relaxed) }
      if decision.leaves, isCancelled { counts.cancelled.wrappingAdd(1, ordering: .relaxed) }
      return decision
    }
    if decision.abandons {
      // The entry first: nobody may find a flight that is cancelled.
      abandon()
      work.leaveOne()
    }
    decision.resume?.resume(.failure(error))
  }

  /// Takes the entry out, outside all locks. Here, not with each waiter: the frame of a task that waits should be small.
  @usableFromInline
  func abandon() {}

  /// Gives every waiter the result, outside all locks. The entry is no longer in progress by now.
  @inlinable
  final func land(_ outcome: Outcome) {
    let tasks = withState { state in
      let tasks = state.land(outcome)
      counts.suspended.wrappingSubtract(tasks.count, ordering: .relaxed)
      return tasks
    }
    tasks.first?.resume(outcome)
    for task in tasks.others { task.resume(outcome) }
  }

  /// Whether what it brought came too late for an invalidation, and was not stored.
  @inlinable
  final var isInvalidated: Bool { invalidated.load(ordering: .acquiring) }

  /// An invalidation concerns what it brings.
  @usableFromInline
  final func noteInvalidation() { invalidated.store(true, ordering: .releasing) }

  /// Whether one who asked when `era` was the newest invalidation must not have what the flight brought. Which of the
  /// invalidations since it began was the first is not known any more, so that whoever joined after any of them looks again.
  @inlinable
  final func isInvalidated(since era: UInt64) -> Bool { isInvalidated && era > self.era }

  /// Whether its last waiter left and it was cancelled.
  final var isAbandoned: Bool { withState { if case .abandoned = $0.phase { true } else { false } } }

  /// Whether a caller waits for it, or is about to.
  final var isAwaited: Bool { withState { $0.isAwaited } }

  /// Waiters that have neither left nor been resumed.
  @inlinable
  final var waiterCount: Int { withState { $0.remaining } }
}
