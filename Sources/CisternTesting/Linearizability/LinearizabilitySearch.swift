/// The search of a ``LinearizabilityChecker``.
///
/// The search visits the calls and returns in the order of time. It unlinks the events of each operation that it
/// has placed. When it reaches the return of an operation that has no place, it backtracks.
struct LinearizabilitySearch<Model: SequentialModel> {
  /// A call or a return of an operation.
  private struct Event {
    let operation: Int
    /// The index of the operation's return, if this event is a call. It is nil for a return, and for the call of an
    /// operation that never returns.
    let returns: Int?
    let isCall: Bool
    var previous = 0
    var next = 0
  }

  /// The set of the placed operations, and the state after them.
  private struct Position: Hashable {
    let placed: PlacedOperations.Key
    let state: Model.State
  }

  private let model: Model
  private let operations: [TimedOperation<Model.Operation>]
  /// The events in the order of time, in a linked list from which events can be removed and restored. The first
  /// element is the list's head, not an event.
  private var events: [Event]
  private var state: Model.State
  private var placed: PlacedOperations
  private var seen: Set<Position> = []
  /// The calls that have a place, each with the state before it.
  private var order: [(event: Int, before: Model.State)] = []
  /// The number of operations that returned and have no place yet.
  private var remaining: Int

  init(_ history: [TimedOperation<Model.Operation>], _ model: Model) {
    self.model = model
    operations = history.sorted { ($0.called, $0.returned) < ($1.called, $1.returned) }
    state = model.initialState
    placed = PlacedOperations(count: operations.count)
    remaining = operations.count { $0.returned < .max }
    // Calls precede returns at the same time, so that operations that only touch are concurrent.
    var order: [(time: UInt64, isReturn: Bool, operation: Int)] = []
    for (index, operation) in operations.enumerated() {
      order.append((operation.called, false, index))
      if operation.returned < .max { order.append((operation.returned, true, index)) }
    }
    order.sort { ($0.time, $0.isReturn ? 1 : 0, $0.operation) < ($1.time, $1.isReturn ? 1 : 0, $1.operation) }
    var returns: [Int: Int] = [:]
    for (index, event) in order.enumerated() where event.isReturn { returns[event.operation] = index + 1 }
    events = [Event(operation: -1, returns: nil, isCall: false)]
    for event in order {
      events.append(
        Event(
          operation: event.operation, returns: event.isReturn ? nil : returns[event.operation], isCall: !event.isReturn)
      )
    }
    for index in events.indices {
      events[index].previous = index - 1
      events[index].next = index + 1 < events.count ? index + 1 : 0
    }
  }

  mutating func run(stepLimit: Int) -> LinearizabilityChecker.Verdict<Model> {
    var steps = 0
    var longest: (order: [Int], state: Model.State) = ([], state)
    var current = events[0].next
    while remaining > 0 {
      steps += 1
      guard steps <= stepLimit else { return .undecided(steps: stepLimit) }
      // An operation without a place has its return in the list, so the scan stops there at the latest.
      precondition(current != 0, "the list has no return of an operation without a place")
      if events[current].isCall {
        current = place(current) ? events[0].next : events[current].next
        continue
      }
      if order.count > longest.order.count || longest.order.isEmpty {
        longest = (order.map { events[$0.event].operation }, state)
      }
      guard let (last, before) = order.popLast() else {
        return .contradiction(contradiction(longest.order, longest.state))
      }
      putBack(last)
      state = before
      current = events[last].next
    }
    return .linearizable
  }

  /// Gives an operation the next place. Returns false if the model forbids it, or if the search has tried the
  /// result before.
  private mutating func place(_ call: Int) -> Bool {
    let operation = events[call].operation
    var after = state
    guard model.apply(operations[operation].operation, to: &after) else { return false }
    placed.insert(operation)
    guard seen.insert(Position(placed: placed.key, state: after)).inserted else {
      placed.remove(operation)
      return false
    }
    order.append((call, state))
    state = after
    unlink(call)
    if let end = events[call].returns {
      unlink(end)
      remaining -= 1
    }
    return true
  }

  private mutating func putBack(_ call: Int) {
    placed.remove(events[call].operation)
    // The reverse order of the removals: each event then finds the neighbors that it had.
    if let end = events[call].returns {
      relink(end)
      remaining += 1
    }
    relink(call)
  }

  private mutating func unlink(_ index: Int) {
    let (previous, next) = (events[index].previous, events[index].next)
    events[previous].next = next
    if next != 0 { events[next].previous = previous }
  }

  private mutating func relink(_ index: Int) {
    let (previous, next) = (events[index].previous, events[index].next)
    events[previous].next = index
    if next != 0 { events[next].previous = index }
  }

  /// Returns the operations that cannot follow the longest order: the first of the others to return, and all others
  /// that were called before this return.
  private func contradiction(
    _ explained: [Int], _ state: Model.State
  ) -> LinearizabilityChecker.Contradiction<Model> {
    let taken = Set(explained)
    let others = operations.indices.filter { !taken.contains($0) }.map { operations[$0] }
    let end = others.map(\.returned).min() ?? .max
    return LinearizabilityChecker.Contradiction(
      explained: explained.map { operations[$0] }, state: state, unexplained: others.filter { $0.called <= end })
  }
}
