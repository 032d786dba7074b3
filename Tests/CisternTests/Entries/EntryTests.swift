import Testing

@testable import Cistern

/// The life cycle of an entry: every state with every event.
struct EntryTests {
  private typealias Value = Int

  private static let now = MonotonicTime(nanoseconds: 100)

  private static func flight() -> Flight<Value> { Flight(work: FlightWork(), priority: .medium) { _ in } }

  private static func held(until deadline: UInt64) -> Held<Value> {
    Held(value: Int(truncatingIfNeeded: deadline), deadline: MonotonicTime(nanoseconds: deadline), isPersisted: false)
  }

  /// A flight whose last waiter has left, and whose entry is still there.
  private static func abandonedFlight() async -> Flight<Value> {
    let flight = flight()
    guard case .joined(let waiter, _) = flight.join(Urgency(.medium)) else { return flight }
    let wait = Task {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return try await flight.wait(as: waiter)
    }
    _ = await wait.result
    return flight
  }

  private struct State {
    let name: String
    let entry: Entry<Value>?
    var flight: Flight<Value>?
    var isAbandoned = false
    var isExpired = false
  }

  private static func states() async -> [State] {
    let flying = flight()
    let abandoned = await abandonedFlight()
    return [
      State(name: "absent", entry: nil),
      State(name: "in progress", entry: .inProgress(flying), flight: flying),
      State(name: "abandoned", entry: .inProgress(abandoned), flight: abandoned, isAbandoned: true),
      State(name: "fresh", entry: .ready(held(until: 101))),
      State(name: "for ever", entry: .ready(held(until: .max))),
      State(name: "expired now", entry: .ready(held(until: 100)), isExpired: true),
      State(name: "long expired", entry: .ready(held(until: 1)), isExpired: true),
    ]
  }

  private static func isSame(_ left: Entry<Value>?, _ right: Entry<Value>?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (.inProgress(let left)?, .inProgress(let right)?): left === right
    case (.ready(let left)?, .ready(let right)?): left.value == right.value && left.deadline == right.deadline
    default: false
    }
  }

  @Test func `every event in every state does what the life cycle says`() async {
    var pairs = 0
    for state in await Self.states() {
      // A load: hits what is fresh, joins what takes waiters, leads where nothing is usable.
      var entry = state.entry
      var made: Flight<Value>?
      let decision = Entry.load(&entry, at: Self.now, priority: .high) {
        made = Self.flight()
        return made!
      }
      switch (decision, state.entry) {
      case (.hit(let value), .ready(let held)?):
        #expect(!state.isExpired && value == held.value, "\(state.name)")
      case (.expired, .ready?):
        #expect(state.isExpired, "\(state.name)")
      case (.join(let flight, let waiter, let raised), .inProgress?):
        #expect(flight === state.flight && !state.isAbandoned && waiter == 0 && raised == Urgency(.high))
      case (.lead(let flight, let waiter), let before):
        #expect(before == nil || state.isAbandoned, "\(state.name)")
        #expect(flight === made && waiter == 0 && flight.waiterCount == 1)
        #expect(Entry.isOwn(flight, entry))
      default:
        Issue.record("a load of \(state.name) gave \(decision)")
      }
      if case .lead = decision {
      } else {
        #expect(made == nil && Self.isSame(entry, state.entry), "a load changed \(state.name)")
      }
      pairs += 1

      // Writes: each condition, met and not met.
      let other = Self.flight()
      var conditions: [(WriteCondition<Value>, Bool)] = [
        (.always, true), (.own(other), false),
        (.untouched(stamp: 7), state.entry == nil), (.untouched(stamp: 6), false),
        (.expired(at: Self.now), state.isExpired),
        (.expired(at: MonotonicTime(nanoseconds: 0)), false),
      ]
      if let flight = state.flight { conditions.append((.own(flight), true)) }
      for (condition, isPermitted) in conditions {
        #expect(
          Entry.permits(condition, state.entry, stamp: 7) == isPermitted, "\(condition) in state \(state.name)")
        pairs += 1
      }

      // Arrivals replace whatever was there, and disown a flight.
      for arrival in [nil, Self.held(until: 500)] {
        var entry = state.entry
        Entry.arrive(&entry, arrival)
        #expect(Self.isSame(entry, arrival.map { .ready($0) }), "\(state.name)")
        #expect(entry.map(\.isReady) == arrival.map { _ in true })
        if let flight = state.flight { #expect(!Entry.isOwn(flight, entry)) }
        pairs += 1
      }

      // The end of a flight: only of the entry's own.
      for flight in [state.flight, other] {
        guard let flight else { continue }
        var entry = state.entry
        let ended = Entry.end(flight, &entry)
        #expect(ended == (flight === state.flight), "\(state.name)")
        #expect(ended ? entry == nil : Self.isSame(entry, state.entry), "\(state.name)")
        pairs += 1
      }
    }
    // 7 states; a load, 6 conditions, 2 arrivals and 1 foreign end in each; 2 more events where there is a flight.
    #expect(pairs == 7 * 10 + 2 * 2)
  }
}
