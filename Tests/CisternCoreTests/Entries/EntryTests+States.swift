import Testing

@testable import CisternCore
@testable import Eviction

// The states of an entry that the tests of the life cycle begin with.

extension EntryTests {
  static var pause: RetryPause { pause(until: 150) }

  static func pause(until nanoseconds: UInt64) -> RetryPause {
    RetryPause(end: MonotonicTime(nanoseconds: nanoseconds), start: WallTime(nanosecondsSince1970: 0))
  }

  static func flight(coversSecondTier: Bool = true) -> Flight<Value> {
    Flight(priority: .medium, kind: .init(.atOnce, coversSecondTier: coversSecondTier))
  }

  static func held(
    until deadline: UInt64, grace: UInt64 = 0, refreshSpan: UInt64 = 0, windows: StaleWindows = StaleWindows()
  ) -> CachedValue<Value> {
    CachedValue(
      value: Int(truncatingIfNeeded: deadline),
      timing: Timing(
        Deadlines(
          freshUntil: MonotonicTime(nanoseconds: deadline), refreshSpan: refreshSpan,
          goneFrom: MonotonicTime(nanoseconds: deadline).advanced(by: grace), windows: windows),
        now: now),
      isPersisted: false)
  }

  /// Returns a flight whose last waiter has left and whose entry still exists.
  static func abandonedFlight() async -> Flight<Value> {
    let flight = flight()
    guard case .joined(let waiter, _) = flight.join(Urgency(.medium)) else { return flight }
    let wait = Task {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return await flight.wait(as: waiter)
    }
    _ = await wait.value
    return flight
  }

  /// Returns a flight of a bulk load without waiters. Loads can join it unless the shared work is cancelled.
  static func unattendedFlight(isCancelled: Bool = false) -> Flight<Value> {
    let work = FlightWork(isHeldByCreator: true)
    let flight = Flight<Value>(work: work, priority: .medium, kind: .init(.withWork))
    guard case .joined(let waiter, _) = flight.join(Urgency(.medium)) else { return flight }
    flight.withdraw(waiter)
    if isCancelled { work.releaseByCreator() }
    return flight
  }

  /// Returns a flight that has announced a value, and that loads can join.
  static func announcedFlight() -> Flight<Value> {
    let flight = flight()
    #expect(flight.announce(1))
    return flight
  }

  struct State {
    let name: String
    let entry: Entry<Value>?
    var isAbandoned = false

    var flight: Flight<Value>? { entry?.flight }
    var freshness: Freshness? { entry?.held?.freshness(at: EntryTests.now) }
  }

  static func states() async -> [State] {
    let abandoned = await abandonedFlight()
    let values: [(String, CachedValue<Value>)] = [
      ("fresh", held(until: 101)), ("without expiry", held(until: .max)), ("expired now", held(until: 100)),
      ("long expired", held(until: 1)), ("due for a refresh", held(until: 110, refreshSpan: 20)),
      ("stale", held(until: 90, grace: 20)),
      ("stale, and postponed", held(until: 90, grace: 20).postponed(until: 105)),
      ("stale, only for errors", held(until: 90, grace: 20, windows: StaleWindows(whileRevalidate: 10, ifError: 20))),
      (
        "stale, only while a refresh runs",
        held(until: 90, grace: 20, windows: StaleWindows(whileRevalidate: 20, ifError: 10))
      ),
      (
        "stale, outside of both windows",
        held(until: 90, grace: 20, windows: StaleWindows(whileRevalidate: 5, ifError: 5))
      ),
      ("past its grace", held(until: 80, grace: 20)),
    ]
    var states = [
      State(name: "absent", entry: nil),
      State(name: "in progress", entry: .inProgress(flight())),
      State(
        name: "in progress, without a second-tier lookup", entry: .inProgress(flight(coversSecondTier: false))),
      State(name: "abandoned", entry: .inProgress(abandoned), isAbandoned: true),
      State(name: "announced", entry: .inProgress(announcedFlight())),
      State(name: "unattended", entry: .inProgress(unattendedFlight())),
      State(
        name: "unattended, and cancelled", entry: .inProgress(unattendedFlight(isCancelled: true)), isAbandoned: true),
    ]
    for (name, held) in values {
      states.append(State(name: name, entry: .ready(held)))
      states.append(State(name: "\(name), refreshing", entry: .refreshing(Refreshing(held: held, flight: flight()))))
      states.append(
        State(
          name: "\(name), refresh abandoned", entry: .refreshing(Refreshing(held: held, flight: abandoned)),
          isAbandoned: true))
      states.append(
        State(
          name: "\(name), refresh unattended", entry: .refreshing(Refreshing(held: held, flight: unattendedFlight()))))
    }
    return states
  }

  static let demands: [(String, Demand)] = [
    ("standard", .standard), ("fresh only", Demand(stale: .never)), ("fresh else stale", Demand(stale: .instead)),
    ("cached only", Demand(fetches: false)), ("reload", Demand(acceptsFresh: false, stale: .never)),
    ("standard, after the second-tier lookup", Self.lookedBehind), ("stale up to 5", Demand(stale: .upTo(5))),
    ("stale up to 10", Demand(stale: .upTo(10))),
    ("anew", Demand(acceptsFresh: false, stale: .never, joins: false)),
  ]

  static var lookedBehind: Demand {
    var demand = Demand.standard
    demand.hasLookedInSecondTier = true
    return demand
  }
}

extension CachedValue {
  fileprivate func postponed(until nanoseconds: UInt64) -> CachedValue {
    CachedValue(
      value: value, timing: timing.postponingRefresh(during: EntryTests.pause(until: nanoseconds)),
      isPersisted: isPersisted)
  }
}
