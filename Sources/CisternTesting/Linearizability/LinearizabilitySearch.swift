/// The search of a ``LinearizabilityChecker``: walks over the calls and returns in the order of time, takes out of them
/// what it has given a place, and goes back where a return comes whose operation has none.
struct LinearizabilitySearch<Model: SequentialModel> {
  /// A call, or a return.
  private struct Event {
    let operation: Int
    /// Where the operation's return is, for a call; nil for a return. An operation that never returns has none.
    let returns: Int?
    let isCall: Bool
    var previous = 0
    var next = 0
  }

  /// What has been given a place, and the state after it.
  private struct Position: Hashable {
    let placed: PlacedOperations.Key
    let state: Model.State
  }

  private let model: Model
  private let operations: [TimedOperation<Model.Operation>]
  /// The events in order, linked so that they can be taken out and put back. The first is no event.
  private var events: [Event]
  private var state: Model.State
  private var placed: PlacedOperations
  private var seen: Set<Position> = []
  /// The calls that have been given a place, each with the state before it.
  private var order: [(event: Int, before: Model.State)] = []
  /// How many that returned have no place yet.
  private var remaining: Int

  init(_ history: [TimedOperation<Model.Operation>], _ model: Model) {
    self.model = model
    operations = history.sorted { ($0.called, $0.returned) < ($1.called, $1.returned) }
    state = model.initialState
    placed = PlacedOperations(count: operations.count)
    remaining = operations.count { $0.returned < .max }
    // Of what happens at one time, the calls first: operations that touch are concurrent.
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
      // Past the end are only those that never return, and each has been tried.
      if current != 0, events[current].isCall {
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

  /// Gives an operation the next place, where the model lets it and what comes of it has not been tried.
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
    // In the opposite order: each finds its neighbours as it left them.
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

  /// What the longest order leaves: the first to return of the others, and all that were called before it did.
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
