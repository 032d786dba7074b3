import Testing

@testable import CisternCore
@testable import Eviction

/// Tests of the life cycle of an entry, with every event in every state.
struct EntryTests {
  typealias Value = Int

  static let now = MonotonicTime(nanoseconds: 100)

  private static func isSame(_ left: Entry<Value>?, _ right: Entry<Value>?) -> Bool {
    left?.flight === right?.flight && left?.held?.value == right?.held?.value && (left == nil) == (right == nil)
  }

  /// Returns the expected decision of a load. This is an independent second implementation of the decision.
  private static func expected(_ state: State, _ demand: Demand) -> String {
    let isBehind = state.entry?.held == nil && state.flight?.coversSecondTier == false
    if isBehind, demand.fetches, demand.acceptsFresh, !demand.hasLookedInSecondTier { return "look behind" }
    let fetching =
      !demand.fetches ? "not cached" : state.flight != nil && !state.isAbandoned && demand.joins ? "join" : "lead"
    switch state.freshness {
    case nil: return fetching
    case .gone: return "expired"
    case .fresh: return demand.acceptsFresh ? "hit" : fetching
    case .refreshDue:
      guard demand.acceptsFresh else { return fetching }
      return state.flight == nil && demand.fetches ? "refresh" : "hit"
    case .stale(let age, let due, let uses):
      switch demand.stale {
      case .never: return fetching
      case .upTo(let limit) where age > limit: return fetching
      case .upTo where demand.fetches && !uses.whileRevalidate, .instead:
        guard uses.ifError else { return fetching }
        return due ? fetching + " instead" : "hit stale"
      case .upTo: return state.flight == nil && due && demand.fetches ? "refresh stale" : "hit stale"
      }
    }
  }

  private static func name(_ decision: Entry<Value>.LoadDecision) -> String {
    switch decision {
    case .hit(_, let isStale): isStale ? "hit stale" : "hit"
    case .refresh(_, _, let isStale): isStale ? "refresh stale" : "refresh"
    case .join(_, _, _, let fallback): fallback == nil ? "join" : "join instead"
    case .lead(_, _, let fallback, _): fallback == nil ? "lead" : "lead instead"
    case .lookInSecondTier: "look behind"
    case .notCached: "not cached"
    case .expired: "expired"
    }
  }

  @Test func `every event in every state has the result that the life cycle defines`() async {
    var pairs = 0
    for state in await Self.states() {
      let other = Self.flight()
      pairs +=
        Self.checkLoads(of: state) + Self.checkRefresh(of: state) + Self.checkConditions(of: state, beside: other)
      pairs += Self.checkReplacements(of: state) + Self.checkLoss(of: state)
      pairs += Self.checkEnds(of: state, beside: other) + Self.checkDelay(of: state, beside: other)
    }
    // Each of the 51 states has 9 loads, a refresh, 9 conditions, 2 new values, a loss, and the end of another entry's
    // flight. Each of the 39 states with a flight has 5 more events.
    #expect(pairs == 51 * 23 + 39 * 5)
    print("pairs of state and event covered: \(pairs)")
  }

  /// Checks a load by each demand. Returns the number of loads.
  private static func checkLoads(of state: State) -> Int {
    var pairs = 0
    for (demandName, demand) in Self.demands {
      var entry = state.entry
      var made: Flight<Value>?
      let decision = Entry.load(&entry, at: Self.now, accepting: demand, priority: .high) {
        made = Self.flight(coversSecondTier: false)
        return made!
      }
      #expect(Self.name(decision) == Self.expected(state, demand), "\(demandName) in state \(state.name)")
      switch decision {
      case .lead(let flight, let waiter, _, let looksInSecondTier):
        #expect(looksInSecondTier == (state.entry?.held == nil))
        #expect(flight.coversSecondTier == (looksInSecondTier && demand.acceptsFresh))
        #expect(flight === made && waiter == 0 && flight.waiterCount == 1)
        #expect(Entry.isOwn(flight, entry) && entry?.held?.value == state.entry?.held?.value)
      case .refresh(let held, let flight, _):
        #expect(flight === made && flight.waiterCount == 1 && held.value == state.entry?.held?.value)
        #expect(Entry.isOwn(flight, entry) && entry?.held?.value == held.value)
      case .join(let flight, _, let raised, _):
        #expect(flight === state.flight && (raised == Urgency(.high) || raised == nil))
        #expect(made == nil && Self.isSame(entry, state.entry))
      case .hit(let held, _):
        #expect(held.value == state.entry?.held?.value && made == nil && Self.isSame(entry, state.entry))
      case .expired, .notCached, .lookInSecondTier:
        #expect(made == nil && Self.isSame(entry, state.entry), "a load changed \(state.name)")
      }
      pairs += 1
    }
    return pairs
  }

  /// Checks a requested refresh. It starts a flight without waiters, unless one is in progress.
  private static func checkRefresh(of state: State) -> Int {
    var refreshed = state.entry
    let refresh = Entry.refresh(&refreshed, at: Self.now) { Self.flight() }
    switch (refresh, state.freshness) {
    case (.expired, .gone), (.decline, .stale(_, refreshDue: false, _)):
      #expect(Self.isSame(refreshed, state.entry), "\(state.name)")
    case (.decline, _):
      #expect(state.flight != nil && !state.isAbandoned && Self.isSame(refreshed, state.entry), "\(state.name)")
    case (.start(let flight), _):
      #expect(state.freshness != .gone && (state.flight == nil || state.isAbandoned), "\(state.name)")
      #expect(Entry.isOwn(flight, refreshed) && flight.waiterCount == 1 && !flight.isAwaited)
      #expect(refreshed?.held?.value == state.entry?.held?.value)
    case (.expired, _):
      Issue.record("a refresh of \(state.name) found an expired value")
    }
    return 1
  }

  /// Checks writes with each condition, both met and not met.
  private static func checkConditions(of state: State, beside other: Flight<Value>) -> Int {
    var pairs = 0
    var conditions: [(WriteCondition<Value>, Bool)] = [
      (.always, true), (.own(other), false),
      (.untouched(writeVersion: 7), state.entry == nil), (.untouched(writeVersion: 6), false),
      (.unheld(writeVersion: 7), state.entry?.held == nil), (.unheld(writeVersion: 6), false),
      (.expired(at: Self.now), state.freshness == .gone),
      (.expired(at: MonotonicTime(nanoseconds: 0)), false),
    ]
    if let flight = state.flight {
      conditions += [
        (.own(flight), true), (.leading(flight), true),
        (.beside(flight, invalidationVersion: 0), state.entry?.held == nil),
      ]
    }
    conditions.append((.beside(other, invalidationVersion: 0), false))
    for (condition, isPermitted) in conditions {
      #expect(
        Entry.permits(condition, state.entry, writeVersion: 7) == isPermitted, "\(condition) in state \(state.name)")
      pairs += 1
    }
    return pairs
  }

  /// Checks that a new value, or none, replaces the entry's state, and detaches its flight.
  private static func checkReplacements(of state: State) -> Int {
    var pairs = 0
    for value in [nil, Self.held(until: 500)] {
      var entry = state.entry
      Entry.replaceValue(of: &entry, with: value)
      #expect(Self.isSame(entry, value.map { .ready($0) }), "\(state.name)")
      #expect(value == nil ? entry == nil : entry?.holdsValue == true)
      if let flight = state.flight { #expect(!Entry.isOwn(flight, entry)) }
      pairs += 1
    }
    return pairs
  }

  /// Checks that the loss of a value does not affect a flight.
  private static func checkLoss(of state: State) -> Int {
    var lost = state.entry
    Entry.removeValue(of: &lost)
    #expect(lost?.held == nil && lost?.flight === state.flight, "\(state.name)")
    return 1
  }

  /// Checks that only the end of the entry's own flight has an effect. A value that the flight was refreshing stays,
  /// and its next refresh is postponed.
  private static func checkEnds(of state: State, beside other: Flight<Value>) -> Int {
    var pairs = 0
    for flight in [state.flight, other] {
      guard let flight else { continue }
      var entry = state.entry
      let ended = Entry.end(flight, &entry, pause: Self.pause)
      #expect(ended == (flight === state.flight), "\(state.name)")
      #expect(ended ? entry?.flight == nil : Self.isSame(entry, state.entry), "\(state.name)")
      #expect(entry?.held?.value == state.entry?.held?.value, "\(state.name)")
      if ended, case .stale(_, let isDue, _)? = entry?.held?.freshness(at: Self.now) { #expect(!isDue) }
      pairs += 1
    }
    return pairs
  }

  /// Checks that a flight that takes too long continues. The value stays, and its next refresh is postponed.
  private static func checkDelay(of state: State, beside other: Flight<Value>) -> Int {
    guard let flight = state.flight else { return 0 }
    var entry = state.entry
    #expect(!Entry.postponeRefresh(by: other, &entry, pause: Self.pause))
    #expect(Entry.postponeRefresh(by: flight, &entry, pause: Self.pause))
    #expect(Self.isSame(entry, state.entry), "\(state.name)")
    if case .stale(_, let isDue, _)? = entry?.held?.freshness(at: Self.now) { #expect(!isDue, "\(state.name)") }
    return 1
  }

  @Test func `the lookup of a load returns exactly the immediate hits of the life cycle`() async {
    for state in await Self.states() {
      for (name, demand) in Self.demands {
        var shard = Shard<Int, Value>(policy: S3FIFO(), invalidations: SharedInvalidations())
        let budget = MemoryBudget(costLimit: 10)
        _ = shard.transition(HashedKey(1, hash: 2), at: nil, cost: 1, budget: budget) { $0 = state.entry }
        var found = "nothing"
        switch shard.lookUp(1, fingerprint: 2, at: Self.now, accepting: demand, budget: budget) {
        case .hit(let value), .hitWithUse(let value, _):
          found = shard.counters.staleHits == 0 ? "hit" : "hit stale"
          #expect(value == state.entry?.held?.value && shard.counters.memoryHits == 1)
        case .absent, .stale, .expired:
          #expect(shard.counters.memoryHits == 0 && shard.counters.staleHits == 0)
        }
        // A load that does not accept a fresh value does not look up the key.
        guard demand.acceptsFresh else { continue }
        let expected = Self.expected(state, demand)
        #expect(found == (expected.hasPrefix("hit") ? expected : "nothing"), "\(name) in state \(state.name)")
      }
    }
  }
}
