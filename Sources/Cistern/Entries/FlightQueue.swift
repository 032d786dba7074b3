/// Who may fetch, and who waits for a turn: a pure state machine, generic over what a waiter waits with so that tests
/// need no continuations. The highest priority goes first, and among equals who came first.
struct FlightQueue<Continuation> {
  private enum Waiter {
    /// Once it came and found no turn, until it comes to wait.
    case expected(Urgency)
    /// Once it waits, until it has a turn or is cancelled.
    case waiting(Urgency, Continuation)
    /// Once it was given a turn before it came to wait.
    case admitted
    /// Once it was cancelled before it came to wait.
    case cancelled

    /// Nil where it does not wait for a turn any more.
    var urgency: Urgency? {
      switch self {
      case .expected(let urgency), .waiting(let urgency, _): urgency
      case .admitted, .cancelled: nil
      }
    }
  }

  private let limit: Int
  /// Turns that are taken.
  private(set) var taken = 0
  /// The newest ticket of those that come for the first time. Their numbers rise.
  private var newestTicket: UInt64 = 1 << 62
  /// The newest ticket of those that return. Their numbers fall, so that these go first.
  private var newestReturning: UInt64 = 1 << 62
  private var waiters: [UInt64: Waiter] = [:]
  /// One place for each who wants a turn, and some of those who do not any more, or are more urgent now.
  private var order = TurnOrder()

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
  ///
  /// - Parameter isReturning: whether it goes before those that come for the first time, among equals.
  mutating func enter(priority: TaskPriority, isReturning: Bool = false) -> Entrance {
    if taken < limit {
      taken += 1
      return .admitted
    }
    let ticket: UInt64
    if isReturning {
      newestReturning -= 1
      ticket = newestReturning
    } else {
      newestTicket += 1
      ticket = newestTicket
    }
    expect(ticket, Urgency(priority))
    return .queued(ticket)
  }

  /// It comes to wait; answers at once whether it has a turn, where that is known.
  mutating func wait(_ ticket: UInt64, _ continuation: Continuation) -> Bool? {
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
    let urgency = Urgency(priority)
    guard let waiter = waiters[ticket], let former = waiter.urgency, urgency > former else { return }
    expect(ticket, urgency)
    if case .waiting(_, let continuation) = waiter { waiters[ticket] = .waiting(urgency, continuation) }
  }

  /// A turn is given back, and goes to the next; answers whom to resume. O(log n) for n who wait.
  mutating func leave() -> Continuation? {
    while let place = order.popFirst() {
      guard waiters[place.ticket]?.urgency == place.urgency else { continue }
      if case .waiting(_, let continuation)? = waiters.removeValue(forKey: place.ticket) { return continuation }
      waiters[place.ticket] = .admitted
      return nil
    }
    taken -= 1
    return nil
  }

  private mutating func expect(_ ticket: UInt64, _ urgency: Urgency) {
    waiters[ticket] = .expected(urgency)
    order.insert(TurnOrder.Place(urgency: urgency, ticket: ticket))
    // Where many come and are cancelled while nobody leaves, their places must not add up.
    if order.count > 2 * waiters.count + 64 {
      order.keep { [waiters] in waiters[$0.ticket]?.urgency == $0.urgency }
    }
  }

  /// Places that are kept, for tests.
  var placeCount: Int { order.count }
}
