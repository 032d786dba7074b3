/// The permits of a fetch limiter and the queue of its waiters: a pure state machine.
///
/// The highest priority goes first; among equal priorities, the earliest waiter does. The machine is generic over the
/// continuation, so that tests need no tasks.
struct PermitQueue<Continuation> {
  private enum Waiter {
    /// The waiter has a ticket and no permit, and has not suspended yet.
    case expected(Urgency)
    /// The waiter is suspended. The state ends when it gets a permit or is cancelled.
    case waiting(Urgency, Continuation)
    /// The waiter got a permit before it suspended.
    case admitted
    /// The waiter was cancelled before it suspended.
    case cancelled

    /// The priority of a waiter without a permit; nil if the waiter no longer waits for one.
    var urgency: Urgency? {
      switch self {
      case .expected(let urgency), .waiting(let urgency, _): urgency
      case .admitted, .cancelled: nil
      }
    }
  }

  private let limit: Int
  /// The number of permits in use.
  private(set) var taken = 0
  /// The last ticket of a fetch that enters for the first time. These tickets ascend.
  private var newestTicket = PermitTicket.middle
  /// The last ticket of a fetch that returns. These tickets descend, so that returning fetches go first.
  private var newestReturning = PermitTicket.middle
  private var waiters: [PermitTicket: Waiter] = [:]
  /// The order of the waiters. It may contain stale tickets: of waiters that no longer wait, or that have a higher
  /// priority now.
  private var order = PriorityHeap()

  init(limit: Int) {
    self.limit = limit
  }

  enum Admission: Equatable {
    /// The fetch has a permit.
    case admitted
    /// The fetch must wait with this ticket.
    case queued(PermitTicket)
  }

  /// Requests a permit.
  ///
  /// - Parameters:
  ///   - priority: The priority of the task.
  ///   - isReturning: Whether the fetch goes before fetches of equal priority that enter for the first time.
  /// - Returns: The permit, or the ticket in the queue.
  mutating func enter(priority: TaskPriority, isReturning: Bool = false) -> Admission {
    if taken < limit {
      taken += 1
      return .admitted
    }
    let ticket: PermitTicket
    if isReturning {
      newestReturning = newestReturning.previous()
      ticket = newestReturning
    } else {
      newestTicket = newestTicket.next()
      ticket = newestTicket
    }
    expect(ticket, Urgency(priority))
    return .queued(ticket)
  }

  /// Suspends a waiter. Returns whether the waiter has a permit, if that is already known; otherwise nil.
  mutating func wait(_ ticket: PermitTicket, _ continuation: Continuation) -> Bool? {
    switch waiters[ticket] {
    case .expected(let urgency)?:
      waiters[ticket] = .waiting(urgency, continuation)
      return nil
    case .admitted?:
      waiters[ticket] = nil
      return true
    case .cancelled?:
      waiters[ticket] = nil
      return false
    case .waiting?, nil:
      preconditionFailure("a waiter waited twice, or after it was removed")
    }
  }

  /// Cancels a waiter. A waiter that has a permit keeps it.
  ///
  /// - Returns: The continuation to resume, if the waiter was suspended.
  mutating func cancel(_ ticket: PermitTicket) -> Continuation? {
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

  /// Raises the priority of a waiter.
  mutating func raise(_ ticket: PermitTicket, to priority: TaskPriority) {
    let urgency = Urgency(priority)
    guard let waiter = waiters[ticket], let former = waiter.urgency, urgency > former else { return }
    expect(ticket, urgency)
    if case .waiting(_, let continuation) = waiter { waiters[ticket] = .waiting(urgency, continuation) }
  }

  /// Releases a permit, which goes to the first waiter.
  ///
  /// - Returns: The continuation to resume, if that waiter was suspended.
  /// - Complexity: O(log *n*) for *n* waiters, amortized.
  mutating func leave() -> Continuation? {
    while let queued = order.popFirst() {
      guard waiters[queued.ticket]?.urgency == queued.urgency else { continue }
      if case .waiting(_, let continuation)? = waiters.removeValue(forKey: queued.ticket) { return continuation }
      waiters[queued.ticket] = .admitted
      return nil
    }
    taken -= 1
    return nil
  }

  private mutating func expect(_ ticket: PermitTicket, _ urgency: Urgency) {
    waiters[ticket] = .expected(urgency)
    order.insert(PriorityHeap.QueuedTicket(urgency: urgency, ticket: ticket))
    // If waiters come and are cancelled while no permit is released, their stale tickets must not accumulate.
    if order.count > 2 * waiters.count + 64 {
      order.keep { [waiters] in waiters[$0.ticket]?.urgency == $0.urgency }
    }
  }

  /// The number of queued tickets, including stale ones. For tests.
  var queuedCount: Int { order.count }
}
