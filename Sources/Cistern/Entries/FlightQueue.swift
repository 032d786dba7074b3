/// Who may fetch, and who waits for a turn: a pure state machine, generic over what a waiter waits with so that tests
/// need no continuations. The highest priority goes first, and among equals who came first.
struct FlightQueue<Continuation> {
  private enum Waiter {
    /// Once it came and found no turn, until it comes to wait.
    case expected(TaskPriority)
    /// Once it waits, until it has a turn or is cancelled.
    case waiting(TaskPriority, Continuation)
    /// Once it was given a turn before it came to wait.
    case admitted
    /// Once it was cancelled before it came to wait.
    case cancelled

    var priority: TaskPriority? {
      switch self {
      case .expected(let priority), .waiting(let priority, _): priority
      case .admitted, .cancelled: nil
      }
    }
  }

  private let limit: Int
  /// Turns that are taken.
  private(set) var taken = 0
  private var nextTicket: UInt64 = 0
  private var waiters: [UInt64: Waiter] = [:]

  init(limit: Int) {
    self.limit = limit
  }

  enum Entrance: Equatable {
    /// It has a turn.
    case admitted
    /// It must come to wait, with this number.
    case queued(UInt64)
  }

  /// Someone wants a turn.
  mutating func enter(priority: TaskPriority) -> Entrance {
    if taken < limit {
      taken += 1
      return .admitted
    }
    nextTicket += 1
    waiters[nextTicket] = .expected(priority)
    return .queued(nextTicket)
  }

  /// It comes to wait; answers at once whether it has a turn, where that is known.
  mutating func wait(_ ticket: UInt64, _ continuation: Continuation) -> Bool? {
    switch waiters[ticket] {
    case .expected(let priority)?:
      waiters[ticket] = .waiting(priority, continuation)
      return nil
    case .admitted?:
      waiters[ticket] = nil
      return true
    case .cancelled?:
      waiters[ticket] = nil
      return false
    case .waiting?, nil:
      preconditionFailure("waited twice")
    }
  }

  /// It does not want a turn any more; answers with what it is to be resumed. One that has a turn keeps it.
  mutating func cancel(_ ticket: UInt64) -> Continuation? {
    switch waiters[ticket] {
    case .expected?:
      waiters[ticket] = .cancelled
      return nil
    case .waiting(_, let continuation)?:
      waiters[ticket] = nil
      return continuation
    case .admitted?, .cancelled?, nil:
      return nil
    }
  }

  /// Its priority is at least this now.
  mutating func raise(_ ticket: UInt64, to priority: TaskPriority) {
    switch waiters[ticket] {
    case .expected(let old)?: waiters[ticket] = .expected(max(old, priority))
    case .waiting(let old, let continuation)?: waiters[ticket] = .waiting(max(old, priority), continuation)
    case .admitted?, .cancelled?, nil: break
    }
  }

  /// A turn is given back, and goes to the next; answers whom to resume.
  mutating func leave() -> Continuation? {
    var best: (ticket: UInt64, priority: TaskPriority)?
    for (ticket, waiter) in waiters {
      guard let priority = waiter.priority else { continue }
      if let found = best, (found.priority, ticket) > (priority, found.ticket) { continue }
      best = (ticket, priority)
    }
    guard let best else {
      taken -= 1
      return nil
    }
    if case .waiting(_, let continuation)? = waiters.removeValue(forKey: best.ticket) { return continuation }
    waiters[best.ticket] = .admitted
    return nil
  }
}
