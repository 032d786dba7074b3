/// The state of a flight and its waiters: a pure state machine.
///
/// It is generic over the continuation of a waiter, so that tests need no tasks.
@usableFromInline
struct FlightState<Value: Sendable, Continuation> {
  @usableFromInline typealias Outcome = FlightOutcome<Value>

  /// The phase of a flight.
  @usableFromInline
  enum Phase {
    /// The flight is in progress. The phase ends when the flight completes or its last waiter leaves.
    case running
    /// The flight is in progress, and the cache itself needs the result. The cache counts as one waiter that never
    /// leaves.
    case kept
    /// The flight is in progress and has announced a value, which is not stored yet. Every waiter gets this value. The
    /// cache itself needs the result, as in `kept`.
    ///
    /// The value is nil after ``withdrawAnnouncement()``. Waiters then wait for the result.
    case announced(ReferencedValue?)
    /// The flight is in progress without waiters, because other flights still need the work that it shares with them.
    ///
    /// It takes a waiter after ``attend()``. The phase ends when the flight completes, or when the work is cancelled.
    case unattended
    /// The flight has completed. Waiters that joined before and have not suspended yet take the result from here.
    ///
    /// The result is nil if no waiter remains that will take it. In that case, the flight takes no waiters any more.
    case completed(CompletedOutcome?)
    /// The last waiter left, and the flight was cancelled. The flight takes no waiters, and its result is dropped.
    case abandoned
  }

  /// The state of a waiter.
  @usableFromInline
  enum Waiter {
    /// The waiter joined and has not suspended yet.
    case expected
    /// The waiter is suspended. The state ends when the flight completes or the waiter leaves.
    case waiting(Continuation)
    /// The waiter left before it suspended. It gets this outcome when it suspends.
    case left(CompletedOutcome)
    /// The waiter has resumed or left. Its place may be removed.
    case gone
  }

  @usableFromInline var phase = Phase.running
  @usableFromInline var waiters = FlightWaiters<Waiter>()
  /// The number of waiters that have neither left nor resumed, including the cache if it keeps the flight.
  @usableFromInline var remaining = 0
  /// The highest priority of all waiters so far. It only rises.
  @usableFromInline var urgency: Urgency

  @inlinable
  init(priority: TaskPriority) {
    urgency = Urgency(priority)
  }

  @usableFromInline
  enum JoinDecision {
    /// The caller joined as the waiter with this number. The caller must raise the flight's priority if `raiseTo` is
    /// given.
    case joined(waiter: Int, raiseTo: Urgency?)
    /// The flight has no waiters, and does not count for its shared work. If that work takes it back, the caller calls
    /// ``attend()`` and joins again.
    case unattended
    /// The flight takes no waiters.
    case refused
  }

  /// Adds a waiter.
  @inlinable
  mutating func join(_ urgency: Urgency) -> JoinDecision {
    switch phase {
    case .running, .kept, .announced, .completed(.some): break
    case .unattended: return .unattended
    case .abandoned, .completed(nil): return .refused
    }
    // Waiters that left must not take up memory for as long as a flight runs.
    if waiters.count >= 64, waiters.count / 4 > remaining {
      waiters.removeAll { if case .gone = $0 { true } else { false } }
    }
    remaining += 1
    return .joined(waiter: waiters.append(.expected), raiseTo: raise(to: urgency))
  }

  /// Whether the flight has neither completed nor been abandoned.
  @inlinable
  var isInProgress: Bool {
    switch phase {
    case .running, .kept, .announced, .unattended: true
    case .completed, .abandoned: false
    }
  }

  /// Keeps the flight running even if all waiters leave, because the cache itself needs the result. Idempotent.
  @inlinable
  mutating func keep() {
    guard case .running = phase else { return }
    phase = .kept
    remaining += 1
  }

  /// Whether a caller waits or is about to wait. If false, no caller will read the result.
  var isAwaited: Bool {
    func isHere(_ waiter: Waiter) -> Bool {
      switch waiter {
      case .expected, .waiting: true
      case .left, .gone: false
      }
    }
    return waiters.first.map(isHere) ?? false || waiters.places.contains { isHere($0.waiter) }
  }

  /// Whether a waiter still waits for the result, or is about to wait for it.
  func isAwaited(by waiter: Int) -> Bool {
    switch (waiters[waiter] ?? .gone, phase) {
    case (.waiting, _), (.expected, .running), (.expected, .kept), (.expected, .announced(nil)): true
    case (.expected, .announced), (.expected, .unattended), (.expected, .completed), (.expected, .abandoned),
      (.left, _),
      (.gone, _):
      false
    }
  }

  /// Notes the priority of a waiter.
  ///
  /// - Returns: The priority to which the caller must raise the flight; nil if the flight's priority is high enough.
  @inlinable
  mutating func raise(to urgency: Urgency) -> Urgency? {
    guard urgency > self.urgency, isInProgress else { return nil }
    self.urgency = urgency
    return urgency
  }

  @usableFromInline
  enum WaitDecision {
    /// The waiter stays suspended and is resumed later.
    case suspended
    /// The caller must resume the waiter now with this result.
    case resume(Outcome)
  }

  /// Suspends a waiter that joined.
  @inlinable
  mutating func wait(_ waiter: Int, _ continuation: Continuation) -> WaitDecision {
    switch (waiters[waiter] ?? .gone, phase) {
    case (.left(let completed), _):
      waiters.replace(waiter, by: .gone)
      return .resume(completed.outcome)
    case (.expected, .completed(let completed?)):
      waiters.replace(waiter, by: .gone)
      remaining -= 1
      return .resume(completed.outcome)
    case (.expected, .running), (.expected, .kept), (.expected, .announced(nil)):
      waiters.replace(waiter, by: .waiting(continuation))
      return .suspended
    case (.expected, .announced(let early?)):
      waiters.replace(waiter, by: .gone)
      remaining -= 1
      return .resume(.early(early.value))
    case (.expected, .unattended), (.expected, .abandoned), (.expected, .completed(nil)), (.waiting, _), (.gone, _):
      preconditionFailure("a waiter waited twice, or its flight ended before its last waiter left")
    }
  }

  @usableFromInline
  struct LeaveDecision {
    /// The continuation to resume with the waiter's outcome.
    @usableFromInline var resume: Continuation?
    /// Whether the flight needs its work no longer, because its last waiter left. The caller then leaves the work.
    @usableFromInline var leavesWork: Bool
    /// Whether this call ended the wait. False if the waiter had left or the flight had completed before.
    @usableFromInline var leaves: Bool

    @inlinable
    init(leaves: Bool, resume: Continuation? = nil, leavesWork: Bool = false) {
      self.leaves = leaves
      self.resume = resume
      self.leavesWork = leavesWork
    }
  }

  /// Ends the wait of one waiter. Does nothing if the waiter has left or the flight has completed.
  ///
  /// - Parameters:
  ///   - waiter: The number of the waiter.
  ///   - outcome: The outcome that the waiter gets.
  ///   - abandonment: The rule for the flight if this is its last waiter.
  ///   - keeps: Whether the cache needs the result from now on. Later waiters that leave then do not end the flight.
  /// - Returns: The actions for the storage around the state.
  @inlinable
  mutating func leave(
    _ waiter: Int, with outcome: Outcome = .failed(CancellationError()), abandonment: Abandonment,
    keepingFlight keeps: Bool = false
  ) -> LeaveDecision {
    var continuation: Continuation?
    switch waiters[waiter] ?? .gone {
    case .expected:
      // The flight has completed, so the waiter gets its result instead of `outcome`.
      guard isInProgress else { return LeaveDecision(leaves: false) }
      // The value was announced in time.
      if case (.announced(.some), .timedOut) = (phase, outcome) { return LeaveDecision(leaves: false) }
      waiters.replace(waiter, by: .left(CompletedOutcome(outcome)))
    case .waiting(let waiting):
      waiters.replace(waiter, by: .gone)
      continuation = waiting
    case .left, .gone:
      return LeaveDecision(leaves: false)
    }
    if keeps { keep() }
    remaining -= 1
    let leavesWork = remaining == 0 && endAttendance(abandonment)
    return LeaveDecision(leaves: true, resume: continuation, leavesWork: leavesWork)
  }

  /// The suspended waiters of a completed flight, in the order of joining, and the value that the flight announced
  /// before.
  ///
  /// Most flights have one waiter, which needs no array.
  @usableFromInline
  struct Completion {
    @usableFromInline var first: Continuation?
    @usableFromInline var others: [Continuation] = []
    /// The announced value, which the caller must release outside the lock.
    @usableFromInline var announced: ReferencedValue?

    @inlinable
    init() {}

    @inlinable
    var count: Int { first == nil ? 0 : 1 + others.count }

    /// Adds a waiter.
    ///
    /// - Parameters:
    ///   - continuation: The continuation of the waiter.
    ///   - remaining: The number of waiters that may still be added, including this one.
    @inlinable
    mutating func append(_ continuation: Continuation, of remaining: Int) {
      guard first != nil else { return first = continuation }
      if others.isEmpty { others.reserveCapacity(remaining) }
      others.append(continuation)
    }
  }

  /// Completes the flight.
  ///
  /// - Returns: The suspended waiters, in the order of joining. Empty if the flight was abandoned.
  @inlinable
  mutating func complete(_ outcome: Outcome) -> Completion {
    switch phase {
    case .running, .unattended: break
    case .kept, .announced: remaining -= 1
    case .completed, .abandoned: return Completion()
    }
    var waiting = takeSuspended()
    var rest = outcome
    if case .announced(let value) = phase {
      waiting.announced = value
      // Waiters that have not suspended yet got the value with the announcement, and no later failure.
      if let value, case .failed = outcome { rest = .early(value.value) }
    }
    phase = .completed(remaining > 0 ? CompletedOutcome(rest) : nil)
    return waiting
  }

  /// Removes the suspended waiters, and returns them in the order of joining.
  @inlinable
  @inline(__always)
  mutating func takeSuspended() -> Completion {
    var waiting = Completion()
    waiters.update { waiter in
      guard case .waiting(let continuation) = waiter else { return }
      waiting.append(continuation, of: remaining)
      waiter = .gone
      remaining -= 1
    }
    return waiting
  }
}
