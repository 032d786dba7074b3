/// A priority heap of the waiters for a permit. Pure.
///
/// The highest priority comes first; among equal priorities, the lowest ticket does. The heap may contain tickets of
/// waiters that no longer wait, which its owner skips.
struct PriorityHeap: Sendable {
  struct QueuedTicket: Sendable {
    let urgency: Urgency
    let ticket: PermitTicket

    func precedes(_ other: QueuedTicket) -> Bool {
      urgency == other.urgency ? ticket < other.ticket : urgency > other.urgency
    }
  }

  /// The heap: each ticket precedes those at twice its index plus one and plus two.
  private var tickets: [QueuedTicket] = []

  var count: Int { tickets.count }

  /// Inserts a ticket.
  ///
  /// - Complexity: O(log *n*).
  mutating func insert(_ ticket: QueuedTicket) {
    tickets.append(ticket)
    var index = tickets.count - 1
    while index > 0, case let parent = (index - 1) / 2, tickets[index].precedes(tickets[parent]) {
      tickets.swapAt(index, parent)
      index = parent
    }
  }

  /// Removes and returns the first ticket.
  ///
  /// - Complexity: O(log *n*).
  mutating func popFirst() -> QueuedTicket? {
    guard let last = tickets.popLast() else { return nil }
    guard let first = tickets.first else { return last }
    tickets[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < tickets.count && tickets[child].precedes(tickets[least])
      {
        least = child
      }
      if least == index { return first }
      tickets.swapAt(index, least)
      index = least
    }
  }

  /// Removes the tickets for which `isKept` returns false.
  ///
  /// - Complexity: O(*n* log *n*) in the worst case.
  mutating func keep(_ isKept: (QueuedTicket) -> Bool) {
    let kept = tickets.filter(isKept)
    tickets = []
    for ticket in kept { insert(ticket) }
  }
}
