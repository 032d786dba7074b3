/// The state of one key's entry: a pure state machine.
///
/// Each event returns the new state and the actions that follow. The machine holds no lock, starts no task and knows
/// neither eviction nor disk. The storage around it applies its decisions.
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
/// - Invariant: A flight publishes, fails or is abandoned only in the entry that still refers to it. A removal, a
///   set, a clear or another flight replaces that entry. The flight is then *disowned*: it gives its result to its
///   own waiters and stores nothing.
@usableFromInline
enum Entry<Value: Sendable> {
  /// The key has a flight and no value.
  ///
  /// The state ends when the flight completes, fails or is abandoned, or when the key is written.
  case inProgress(Flight<Value>)
  /// The key has a value and no flight.
  ///
  /// The state ends when the value is replaced, removed, evicted or expired, or when a load starts a refresh.
  case ready(CachedValue<Value>)
  /// The key has a stale or refresh-due value and a flight that fetches a newer one.
  ///
  /// The state ends when the flight ends or the key is written. Until then, loads that accept the value get it.
  case refreshing(Refreshing<Value>)
}

extension Entry {
  /// The value in memory, with its deadlines and its residency.
  @inlinable
  var held: CachedValue<Value>? {
    switch self {
    case .inProgress: nil
    case .ready(let held): held
    case .refreshing(let refreshing): refreshing.held
    }
  }

  /// Returns the value if the entry has no flight, the value is fresh, and reading it has no other effect.
  ///
  /// Returns nil if the entry was not yet compared with the shard's newest invalidation. This is a method so that the
  /// compiler reads the entry in place; a caller that took its parts would copy all of them first.
  @inlinable
  @inline(__always)
  func simplyFreshValue(at now: MonotonicTime, invalidationVersion: ShortVersion) -> Value? {
    guard case .ready(let held) = self, held.invalidationVersion == invalidationVersion,
      held.timing.isSimplyFresh(at: now)
    else { return nil }
    return held.value
  }

  /// Whether the entry holds a value. Only such an entry has a cost and a place in the eviction order.
  @inlinable
  var holdsValue: Bool { if case .inProgress = self { false } else { true } }

  /// Whether the entry holds a value and has a flight.
  @inlinable
  var isRefreshing: Bool { if case .refreshing = self { true } else { false } }

  /// The flight that may publish into the entry.
  @inlinable
  var flight: Flight<Value>? {
    switch self {
    case .inProgress(let flight): flight
    case .ready: nil
    case .refreshing(let refreshing): refreshing.flight
    }
  }

  /// Returns the entry with its value replaced. An entry without a value stays the same.
  @inlinable
  func replacingHeld(_ held: CachedValue<Value>) -> Entry {
    switch self {
    case .inProgress: self
    case .ready: .ready(held)
    case .refreshing(let refreshing): .refreshing(Refreshing(held: held, flight: refreshing.flight))
    }
  }
}

// MARK: Loading

extension Entry {
  /// The result of a load.
  @usableFromInline
  enum LoadDecision {
    /// The load returns this value.
    case hit(CachedValue<Value>, isStale: Bool)
    /// The load returns this value and starts the new flight, which has no waiters and fetches a newer value.
    case refresh(CachedValue<Value>, Flight<Value>, isStale: Bool)
    /// The load waits for this flight, as the waiter with this number.
    ///
    /// The caller raises the priority of the flight's work if `raiseTo` is given. The load returns `fallback` if the
    /// flight fails or takes too long.
    case join(Flight<Value>, waiter: Int, raiseTo: Urgency?, fallback: Fallback<Value>?)
    /// The load leads a new flight, as its first waiter.
    ///
    /// `looksInSecondTier` says whether the leader first looks in the second tier. It is true only if memory had no
    /// value: otherwise the second tier has no better one.
    case lead(Flight<Value>, waiter: Int, fallback: Fallback<Value>?, looksInSecondTier: Bool)
    /// The load must look in the second tier before it joins this flight, because the flight's leader does not look
    /// there. Or unconfirmed edits show a value that memory does not hold.
    case lookInSecondTier(Flight<Value>)
    /// Memory has no usable value, and the load must not fetch one.
    case notCached
    /// The value is past its grace period. The entry still holds it, because its end must be announced first.
    case expired
  }

  /// Decides how a load of the key continues.
  ///
  /// - Parameters:
  ///   - entry: The key's entry. It changes if a flight begins.
  ///   - now: The time of the load.
  ///   - demand: The values that the load accepts.
  ///   - priority: The priority of the calling task.
  ///   - makeFlight: Creates a flight. Called only if the load starts one.
  /// - Returns: The decision.
  @inlinable
  static func load(
    _ entry: inout Entry?, at now: MonotonicTime, accepting demand: Demand = .standard, priority: TaskPriority,
    makeFlight: () -> Flight<Value>
  ) -> LoadDecision {
    var fallback: Fallback<Value>?
    if let held = entry?.held {
      switch demand.verdict(on: held.freshness(at: now)) {
      case .gone: return .expired
      case .use(let isStale, let refreshes):
        guard refreshes, case .ready = entry else { return .hit(held, isStale: isStale) }
        let flight = makeFlight()
        flight.beginRefresh()
        entry = .refreshing(Refreshing(held: held, flight: flight))
        return .refresh(held, flight, isStale: isStale)
      case .fetch(let fallsBack):
        if fallsBack { fallback = Fallback(held) }
      }
    }
    guard demand.fetches else { return .notCached }
    if case .inProgress(let flight) = entry,
      demand.mustLookUpBeforeJoining(flightCoversSecondTier: flight.coversSecondTier)
    {
      return .lookInSecondTier(flight)
    }
    // An abandoned flight takes no waiters, and its entry is about to be removed. A new flight need not wait for
    // that.
    if demand.joins, let flight = entry?.flight, case .joined(let waiter, let raised) = flight.join(Urgency(priority)) {
      return .join(flight, waiter: waiter, raiseTo: raised, fallback: fallback)
    }
    // The result of an earlier flight is older than the one of the new flight.
    entry?.flight?.noteReplaced()
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
      preconditionFailure("a new flight must accept waiters")
    }
    return .lead(flight, waiter: waiter, fallback: fallback, looksInSecondTier: isFirst)
  }
}

// MARK: Writing

extension Entry {
  /// Returns whether a flight may publish into the entry: the entry still refers to that flight.
  @inlinable
  static func isOwn(_ flight: Flight<Value>, _ entry: Entry?) -> Bool { entry?.flight === flight }

  @inlinable
  static func isAbsent(_ entry: Entry?) -> Bool { entry == nil }

  /// Returns whether a write's condition holds for the entry.
  ///
  /// - Parameters:
  ///   - condition: The condition of the write.
  ///   - entry: The key's entry.
  ///   - writeVersion: The key's current write version, as its shard counts it.
  ///   - watched: The state of the key if a writer watches it.
  /// - Returns: Whether the condition holds.
  @inlinable
  static func permits(
    _ condition: WriteCondition<Value>, _ entry: Entry?, writeVersion: WriteVersion,
    watched: WatchedKey? = nil
  ) -> Bool {
    let isEdited = watched?.isEdited ?? false
    return switch condition {
    case .always: true
    case .unedited: !isEdited
    case .unchanged(let earlier, let flight):
      watched?.version.hasSameValue(as: earlier) == true && (flight.map { isOwn($0, entry) } ?? true)
    case .belowEdits(let flight, let earlier, _):
      isOwn(flight, entry) && watched?.version.hasSameValue(as: earlier) == true
    case .own(let flight): !isEdited && isOwn(flight, entry)
    case .leading(let flight): !isEdited && isOwn(flight, entry) && !flight.hasNewerRecord
    case .keeping(let flight, let earlier):
      !isEdited && isOwn(flight, entry) && watched?.version.hasSameValue(as: earlier) == true
    case .untouched(let earlier, _): !isEdited && isAbsent(entry) && earlier == writeVersion
    case .unheld(let earlier): !isEdited && entry?.held == nil && earlier == writeVersion
    case .beside(let flight, _): !isEdited && isOwn(flight, entry) && entry?.held == nil && !flight.hasNewerRecord
    case .expired(let now): entry?.held.map { $0.isGone(at: now) } ?? false
    case .inUse(let lastAccess): entry?.held.map { $0.isPersisted && $0.timing.lastAccess === lastAccess } ?? false
    }
  }

  /// Replaces the value of the entry, or removes it if `held` is nil.
  ///
  /// The value comes from a set, from a promotion, or from a flight that may publish. It is nil if memory will hold no
  /// value, for example after a removal.
  ///
  /// - Parameters:
  ///   - entry: The key's entry.
  ///   - held: The value; nil for none.
  ///   - keepsFlight: Whether the entry keeps a flight in progress. Otherwise, the flight is disowned. True for a
  ///     promotion beside the flight, for a value that unconfirmed edits show, and for one of an older fetch.
  @inlinable
  static func replaceValue(
    of entry: inout Entry?, with held: CachedValue<Value>?, keepsFlight: Bool = false
  ) {
    guard keepsFlight, let flight = entry?.flight else {
      entry = held.map { .ready($0) }
      return
    }
    entry = held.map { .refreshing(Refreshing(held: $0, flight: flight)) } ?? .inProgress(flight)
  }

  /// Removes the value because it expired or was evicted. A flight that refreshes the value continues.
  @inlinable
  static func removeValue(of entry: inout Entry?) {
    switch entry {
    case .ready: entry = nil
    case .refreshing(let refreshing): entry = .inProgress(refreshing.flight)
    case .inProgress, nil: break
    }
  }

  /// Ends a flight that has no value to publish, because it failed or its last waiter left.
  ///
  /// The flight leaves the entry before any waiter resumes, so that a retry from a `catch` block starts a new flight.
  /// An older value stays.
  ///
  /// - Parameters:
  ///   - flight: The flight.
  ///   - entry: The key's entry.
  ///   - pause: The time in which a remaining value is not due for a refresh; nil to keep its deadline.
  /// - Returns: Whether the entry belonged to the flight, and has no flight now.
  @inlinable
  static func end(_ flight: Flight<Value>, _ entry: inout Entry?, pause: RetryPause? = nil) -> Bool {
    guard isOwn(flight, entry) else { return false }
    entry = entry?.held.map { held in .ready(pause.map { held.postponingRefresh(during: $0) } ?? held) }
    return true
  }

  /// Delays the next refresh, because a waiter's timeout expired. The flight continues.
  ///
  /// - Parameters:
  ///   - flight: The flight.
  ///   - entry: The key's entry.
  ///   - pause: The time in which an older value is not due for a refresh.
  /// - Returns: Whether the entry belongs to the flight.
  @inlinable
  static func postponeRefresh(by flight: Flight<Value>, _ entry: inout Entry?, pause: RetryPause) -> Bool {
    guard isOwn(flight, entry) else { return false }
    if case .refreshing(let refreshing) = entry {
      let held = refreshing.held.postponingRefresh(during: pause)
      entry = .refreshing(Refreshing(held: held, flight: flight))
    }
    return true
  }
}

extension Entry {
  /// The invalidation version with which the entry was last compared, or at which it was created.
  @inlinable
  var invalidationVersion: ShortVersion {
    switch self {
    case .inProgress(let flight): ShortVersion(flight.invalidationVersion)
    case .ready(let held): held.invalidationVersion
    case .refreshing(let refreshing): refreshing.held.invalidationVersion
    }
  }
}
