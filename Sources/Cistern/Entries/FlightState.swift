/// The life of a flight, as its waiters see it: a pure state machine, generic over what a waiter waits with so that
/// tests need no continuations.
@usableFromInline
struct FlightState<Value: Sendable, Continuation> {
  @usableFromInline typealias Outcome = Result<Value, any Error>

  @usableFromInline
  enum Phase {
    /// Once it was led, until it lands or its last waiter leaves.
    case flying
    /// Once the cache itself wants the result, until it lands. The cache counts as one waiter that never leaves.
    case kept
    /// Once its result is there. Who joined before, and comes to wait only now, takes it from here; nil where there was
    /// nobody like that, and nobody else may join any more.
    case landed(Landed?)
    /// Once its last waiter left and it was cancelled. It takes no waiters, and what it brings interests nobody.
    case abandoned
  }

  /// A result behind a reference. Everything that a flight keeps has a size that does not depend on its value: where a
  /// flight goes, nothing need be looked up of the types in it.
  @usableFromInline
  final class Landed {
    @usableFromInline let outcome: Outcome

    @inlinable
    init(_ outcome: Outcome) {
      self.outcome = outcome
    }
  }

  @usableFromInline
  enum Waiter {
    /// Once it joined, until it comes to wait.
    case expected
    /// Once it waits, until the flight lands or it leaves.
    case waiting(Continuation)
    /// Once it left before it came to wait, with the error that it is to get.
    case left(any Error)
    /// Once it has been resumed, or left. Its place may be given back.
    case gone
  }

  @usableFromInline var phase = Phase.flying
  @usableFromInline var waiters = FlightWaiters<Waiter>()
  /// Waiters that have neither left nor been resumed.
  @usableFromInline var remaining = 0
  /// The highest priority among the waiters so far: it only rises.
  @usableFromInline var urgency: Urgency

  @inlinable
  init(priority: TaskPriority) {
    urgency = Urgency(priority)
  }

  @usableFromInline
  enum JoinDecision {
    /// Joined with this number; the flight must be raised where a priority is given.
    case joined(waiter: Int, raiseTo: Urgency?)
    /// The flight takes no waiters.
    case refused
  }

  /// Someone joins.
  @inlinable
  mutating func join(_ urgency: Urgency) -> JoinDecision {
    switch phase {
    case .flying, .kept, .landed(.some): break
    case .abandoned, .landed(nil): return .refused
    }
    // Who left a flight that hangs must not take up room for as long as it hangs.
    if waiters.count >= 64, waiters.count / 4 > remaining {
      waiters.removeAll { if case .gone = $0 { true } else { false } }
    }
    remaining += 1
    return .joined(waiter: waiters.append(.expected), raiseTo: raise(to: urgency))
  }

  /// Whether the result is still to come.
  @inlinable
  var isUnderWay: Bool {
    switch phase {
    case .flying, .kept: true
    case .landed, .abandoned: false
    }
  }

  /// The cache itself wants the result: no waiter that leaves is the last. Doing it again changes nothing.
  @inlinable
  mutating func keep() {
    guard case .flying = phase else { return }
    phase = .kept
    remaining += 1
  }

  /// Whether a caller waits, or is about to: else no caller gets the result.
  var isAwaited: Bool {
    func isHere(_ waiter: Waiter) -> Bool {
      switch waiter {
      case .expected, .waiting: true
      case .left, .gone: false
      }
    }
    return waiters.first.map(isHere) ?? false || waiters.places.contains { isHere($0.waiter) }
  }

  /// A waiter, joining or waiting, is of this priority now.
  ///
  /// - Returns: the priority to raise the flight to; nil where it is high enough.
  @inlinable
  mutating func raise(to urgency: Urgency) -> Urgency? {
    guard urgency > self.urgency, isUnderWay else { return nil }
    self.urgency = urgency
    return urgency
  }

  @usableFromInline
  enum WaitDecision {
    /// It is resumed later.
    case suspended
    /// It is to be resumed now, with this.
    case resume(Outcome)
  }

  /// A waiter comes to wait.
  @inlinable
  mutating func wait(_ waiter: Int, _ continuation: Continuation) -> WaitDecision {
    switch (waiters[waiter] ?? .gone, phase) {
    case (.left(let error), _):
      waiters.replace(waiter, by: .gone)
      return .resume(.failure(error))
    case (.expected, .landed(let landed?)):
      waiters.replace(waiter, by: .gone)
      remaining -= 1
      return .resume(landed.outcome)
    case (.expected, .flying), (.expected, .kept):
      waiters.replace(waiter, by: .waiting(continuation))
      return .suspended
    case (.expected, .abandoned), (.expected, .landed(nil)), (.waiting, _), (.gone, _):
      preconditionFailure("a waiter waited twice, or a flight was over before its last waiter left")
    }
  }

  @usableFromInline
  struct LeaveDecision {
    /// To be resumed with the error that it left with.
    @usableFromInline var resume: Continuation?
    /// It was the last: the flight's entry goes, and the flight is cancelled.
    @usableFromInline var abandons: Bool
    /// It leaves by this; else it had left or landed before.
    @usableFromInline var leaves: Bool

    @inlinable
    init(leaves: Bool, resume: Continuation? = nil, abandons: Bool = false) {
      self.leaves = leaves
      self.resume = resume
      self.abandons = abandons
    }
  }

  /// A waiter leaves: its task was cancelled, or it waited long enough. Leaving twice, or after the landing, does nothing.
  ///
  /// - Parameter keeps: whether the cache wants the result from now on, so that no later waiter's leaving ends the flight.
  @inlinable
  mutating func leave(
    _ waiter: Int, with error: any Error = CancellationError(), abandoningIfLast: Bool,
    keepingFlight keeps: Bool = false
  ) -> LeaveDecision {
    var continuation: Continuation?
    switch waiters[waiter] ?? .gone {
    case .expected:
      // Landed already: the result is there for it, and it may as well have it.
      guard isUnderWay else { return LeaveDecision(leaves: false) }
      waiters.replace(waiter, by: .left(error))
    case .waiting(let waiting):
      waiters.replace(waiter, by: .gone)
      continuation = waiting
    case .left, .gone:
      return LeaveDecision(leaves: false)
    }
    if keeps { keep() }
    remaining -= 1
    let abandons = remaining == 0 && abandoningIfLast
    if abandons { phase = .abandoned }
    return LeaveDecision(leaves: true, resume: continuation, abandons: abandons)
  }

  /// Who waited for a result, in the order of joining. Most flights have one waiter, which takes no array.
  @usableFromInline
  struct Landing {
    @usableFromInline var first: Continuation?
    @usableFromInline var others: [Continuation] = []

    @inlinable
    init() {}

    @inlinable
    var count: Int { first == nil ? 0 : 1 + others.count }

    /// - Parameter remaining: how many there may be, with this one, of those who are not here yet.
    @inlinable
    mutating func append(_ continuation: Continuation, of remaining: Int) {
      guard first != nil else { return first = continuation }
      if others.isEmpty { others.reserveCapacity(remaining) }
      others.append(continuation)
    }
  }

  /// The result is there.
  ///
  /// - Returns: who waits for it, in the order of joining. Empty where the flight was abandoned.
  @inlinable
  mutating func land(_ outcome: Outcome) -> Landing {
    guard isUnderWay else { return Landing() }
    if case .kept = phase { remaining -= 1 }
    var waiting = Landing()
    waiters.update { waiter in
      guard case .waiting(let continuation) = waiter else { return }
      waiting.append(continuation, of: remaining)
      waiter = .gone
      remaining -= 1
    }
    phase = .landed(remaining > 0 ? Landed(outcome) : nil)
    return waiting
  }
}
