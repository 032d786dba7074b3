/// The life of one key's entry: a pure state machine. An event goes in; the new state, and what follows from it, come
/// out. Locks, tasks, eviction and disk are elsewhere, and act on what this decides.
///
///                  load              publish, set, promote
///     absent ───────────▶ inProgress ───────────▶ ready ─┐ hit, set
///        ▲  ▲               │  │ ▲                │ ▲ ▲└─┘
///        │  └───────────────┘  │ │                │ │ │ publish, set; fail or abandon: the
///        │   fail, abandon,    │ │ expire, evict  │ │ │ older value stays
///        │   remove            ▼ │                │ │ │
///        │                  inProgress            │ refreshing ─┐ hit, join
///        │                       ▲                │   ▲  │  ▲ └─┘
///        │                       └────────────────┼───┼──┘  │
///        │                                        └───┘ load when stale or due
///        └──────────────────────────────────────────────────┘ remove, expire, evict
///
/// Identity: a flight publishes, fails or is abandoned only in the entry that still names it. Whatever happened to the
/// key since (a removal, a set, a clear, another flight) has put something else in its place, and the flight is
/// *disowned*: its own waiters get its result and nobody else does.
@usableFromInline
enum Entry<Value: Sendable> {
  /// Once a load found nothing usable, until its flight lands, fails or is abandoned, or until the key is written.
  case inProgress(Flight<Value>)
  /// Once a value was published, set or promoted, until it is replaced, removed or evicted, is refreshed, or is gone.
  case ready(Held<Value>)
  /// Once a load found a value that is stale or due, until the flight that it started ends, or the key is written. Who
  /// accepts the value has it meanwhile.
  case refreshing(Refreshing<Value>)
}

extension Entry {
  /// The value that it holds, and what is known of it.
  @inlinable
  var held: Held<Value>? {
    switch self {
    case .inProgress: nil
    case .ready(let held): held
    case .refreshing(let refreshing): refreshing.held
    }
  }

  /// The value of an entry without a flight, where nothing follows from returning it and no invalidation is newer.
  ///
  /// A method, so that the entry is read in place: a caller that took its parts copied all of them first.
  @inlinable
  @inline(__always)
  func simplyFreshValue(at now: MonotonicTime, era: Era) -> Value? {
    guard case .ready(let held) = self, held.era == era, held.timing.isSimplyFresh(at: now) else { return nil }
    return held.value
  }

  /// Whether it holds a value: then it has a cost, and a place in the order of eviction.
  @inlinable
  var isReady: Bool { if case .inProgress = self { false } else { true } }

  /// Whether it holds a value and has a flight.
  @inlinable
  var isRefreshing: Bool { if case .refreshing = self { true } else { false } }

  /// The flight that may publish into it.
  @inlinable
  var flight: Flight<Value>? {
    switch self {
    case .inProgress(let flight): flight
    case .ready: nil
    case .refreshing(let refreshing): refreshing.flight
    }
  }

  /// The same entry with this in the place of the value that it holds; one that holds none stays as it is.
  @inlinable
  func replacingHeld(_ held: Held<Value>) -> Entry {
    switch self {
    case .inProgress: self
    case .ready: .ready(held)
    case .refreshing(let refreshing): .refreshing(Refreshing(held: held, flight: refreshing.flight))
    }
  }
}

// MARK: Loading

extension Entry {
  /// What a load finds.
  @usableFromInline
  enum LoadDecision {
    /// A value to return.
    case hit(Value, isStale: Bool)
    /// A value to return, and a new flight without waiters that brings a newer one.
    case refresh(Value, Flight<Value>, isStale: Bool)
    /// A flight to wait for, as the waiter with this number; its work is to be raised where a priority is given. Beside
    /// it, what to return where it fails or takes too long.
    case join(Flight<Value>, waiter: Int, raiseTo: Urgency?, instead: Fallback<Value>?)
    /// Nothing usable: a new flight, with its first waiter, took the place of what was there. The second tier can only
    /// have something better where memory had nothing.
    case lead(Flight<Value>, waiter: Int, instead: Fallback<Value>?, looksBehind: Bool)
    /// A flight that would be joined, but whose leader does not look in the second tier: the load must look there first.
    case lookBehind(Flight<Value>)
    /// Nothing usable, and nothing may be fetched.
    case notCached
    /// A value past its time. It is still there: its end has to be announced first.
    case expired
  }

  /// Someone wants the value. `makeFlight` is called only where a new flight begins.
  @inlinable
  static func load(
    _ entry: inout Entry?, at now: MonotonicTime, accepting demand: Demand = .standard, priority: TaskPriority,
    makeFlight: () -> Flight<Value>
  ) -> LoadDecision {
    var instead: Fallback<Value>?
    if let held = entry?.held {
      switch demand.verdict(on: held.freshness(at: now)) {
      case .gone: return .expired
      case .use(let isStale, let refreshes):
        guard refreshes, case .ready = entry else { return .hit(held.value, isStale: isStale) }
        let flight = makeFlight()
        flight.keep()
        entry = .refreshing(Refreshing(held: held, flight: flight))
        return .refresh(held.value, flight, isStale: isStale)
      case .fetch(let fallsBack):
        if fallsBack { instead = Fallback(held) }
      }
    }
    guard demand.fetches else { return .notCached }
    if case .inProgress(let flight) = entry, demand.looksBehind, !flight.isAheadOfSecondTier {
      return .lookBehind(flight)
    }
    // One that was abandoned takes no waiters, and its end is on its way. A new flight need not wait for that.
    if let flight = entry?.flight, case .joined(let waiter, let raised) = flight.join(Urgency(priority)) {
      return .join(flight, waiter: waiter, raiseTo: raised, instead: instead)
    }
    let flight = makeFlight()
    let isFirst: Bool
    if let held = entry?.held {
      entry = .refreshing(Refreshing(held: held, flight: flight))
      isFirst = false
    } else {
      entry = .inProgress(flight)
      isFirst = true
      if demand.acceptsFresh { flight.coverSecondTier() }
    }
    guard case .joined(let waiter, _) = flight.join(Urgency(priority)) else {
      preconditionFailure("a new flight takes waiters")
    }
    return .lead(flight, waiter: waiter, instead: instead, looksBehind: isFirst)
  }
}

// MARK: Writing

extension Entry {
  /// Whether a flight may bring its result: only into the entry that is still its own.
  @inlinable
  static func isOwn(_ flight: Flight<Value>, _ entry: Entry?) -> Bool { entry?.flight === flight }

  @inlinable
  static func isAbsent(_ entry: Entry?) -> Bool { if case nil = entry { true } else { false } }

  /// Whether a write applies to the entry as it is.
  ///
  /// - Parameters:
  ///   - stamp: the number of writes of the key so far, as its shard counts them.
  ///   - watched: what is known of the key where somebody watches it.
  @inlinable
  static func permits(
    _ condition: WriteCondition<Value>, _ entry: Entry?, stamp: UInt32, watched: KeyVersions.Watched? = nil
  ) -> Bool {
    let isEdited = watched?.isEdited ?? false
    return switch condition {
    case .always: true
    case .unedited: !isEdited
    case .unchanged(let earlier, let flight): watched?.version == earlier && (flight.map { isOwn($0, entry) } ?? true)
    case .own(let flight): !isEdited && isOwn(flight, entry)
    case .untouched(let earlier, _): !isEdited && isAbsent(entry) && earlier == stamp
    case .beside(let flight, _): !isEdited && isOwn(flight, entry) && entry?.held == nil
    case .expired(let now): entry?.held.map { $0.isGone(at: now) } ?? false
    }
  }

  /// A value arrives, by a set, by promotion, or from a flight that may publish; nil where the key is to have nothing,
  /// because it was removed, its value was refused, or it is past its time. A flight in progress is disowned, unless
  /// what arrives is only shown over what the flight will bring.
  @inlinable
  static func arrive(_ entry: inout Entry?, _ held: Held<Value>?, keepsFlight: Bool = false) {
    guard keepsFlight, let flight = entry?.flight else {
      entry = held.map { .ready($0) }
      return
    }
    entry = held.map { .refreshing(Refreshing(held: $0, flight: flight)) } ?? .inProgress(flight)
  }

  /// The value goes, because its time is up or its room is needed. A flight that was to refresh it goes on.
  @inlinable
  static func lose(_ entry: inout Entry?) {
    switch entry {
    case .ready: entry = nil
    case .refreshing(let refreshing): entry = .inProgress(refreshing.flight)
    case .inProgress, nil: break
    }
  }

  /// A flight ends with nothing to publish: it failed, or its last waiter left. Gone before any waiter runs, so that a
  /// retry from a catch block starts a new flight. A value that it was to refresh stays.
  ///
  /// - Parameter retryFrom: when a value that stays is due for a refresh again; nil for as before.
  /// - Returns: whether the entry was the flight's own, and has no flight now.
  @inlinable
  static func end(_ flight: Flight<Value>, _ entry: inout Entry?, retryFrom: MonotonicTime? = nil) -> Bool {
    guard isOwn(flight, entry) else { return false }
    entry = entry?.held.map { held in .ready(retryFrom.map { held.postponingRefresh(until: $0) } ?? held) }
    return true
  }

  /// A flight takes too long for one of its waiters. A value that it is to refresh is not due again before `retryFrom`; the
  /// flight goes on.
  ///
  /// - Returns: whether the entry is the flight's own.
  @inlinable
  static func postponeRefresh(by flight: Flight<Value>, _ entry: inout Entry?, retryFrom: MonotonicTime) -> Bool {
    guard isOwn(flight, entry) else { return false }
    if case .refreshing(let refreshing) = entry {
      let held = refreshing.held.postponingRefresh(until: retryFrom)
      entry = .refreshing(Refreshing(held: held, flight: flight))
    }
    return true
  }
}

/// Under which condition a write applies to an entry.
@usableFromInline
enum WriteCondition<Value: Sendable> {
  /// In any case: a removal.
  case always
  /// While no unconfirmed edit lies over the key: a set.
  case unedited
  /// While the key, which is watched, has this version still: what depends on the value that was read with it. And while
  /// the entry is the flight's, where one is given.
  case unchanged(since: KeyVersions.Version, of: Flight<Value>? = nil)
  /// While the entry is this flight's: what it brings.
  case own(Flight<Value>)
  /// While the key is absent, and was not written since a look-up gave this stamp: a promotion. What is promoted was read
  /// after the invalidation with this number, and perhaps before later ones.
  case untouched(stamp: UInt32, era: UInt64 = .max)
  /// While the entry holds a value that is past its time, its grace included.
  case expired(at: MonotonicTime)
  /// While the entry is this flight's and holds no value: a promotion that leaves the flight under way. The record was read
  /// after the invalidation with this number, and perhaps before later ones.
  case beside(Flight<Value>, era: UInt64)
}

extension WriteCondition {
  /// The flight that brings the value.
  @inlinable
  var flight: Flight<Value>? {
    switch self {
    case .own(let flight): flight
    case .unchanged(_, let flight): flight
    case .always, .unedited, .untouched, .expired, .beside: nil
    }
  }

  /// The flight that is told if the second tier loses a record that was read for this write.
  @usableFromInline
  var witness: Flight<Value>? {
    if case .beside(let flight, _) = self { flight } else { flight }
  }

  /// Whether the value was fetched or read, not set.
  @inlinable
  var brings: Bool {
    switch self {
    case .untouched, .beside: true
    case .always, .unedited, .expired, .unchanged, .own: flight != nil
    }
  }

  /// The newest invalidation when the value began to be fetched or read; nil for one that is set now.
  @inlinable
  var era: UInt64? {
    switch self {
    case .untouched(_, let era), .beside(_, let era): era
    case .always, .unedited, .expired, .unchanged, .own: flight?.era
    }
  }
}
