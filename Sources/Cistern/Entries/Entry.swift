/// The life of one key's entry: a pure state machine. An event goes in; the new state, and what follows from it, come
/// out. Locks, tasks, eviction and disk are elsewhere, and act on what this decides.
///
///                  load              publish, set, promote
///     absent ───────────▶ inProgress ───────────▶ ready ─┐ hit, set
///        ▲  ▲               │  │                  │ ▲  └─┘
///        │  └───────────────┘  │ load after the   │ │
///        │   fail, abandon,    │ last waiter left │ │ load when expired: inProgress
///        │   remove            ▼                  │
///        │                  inProgress            │
///        └────────────────────────────────────────┘ remove, evict, expire
///
/// Identity: a flight publishes, fails or is abandoned only in the entry that still names it. Whatever happened to the
/// key since (a removal, a set, a clear, another flight) has put something else in its place, and the flight is
/// *disowned*: its own waiters get its result and nobody else does.
///
/// Freshness beyond expiry (a stale value kept while one flight refreshes it) is to be a third case here.
@usableFromInline
enum Entry<Value: Sendable> {
  /// Once a load found nothing usable, until its flight lands, fails or is abandoned, or until the key is written.
  case inProgress(Flight<Value>)
  /// Once a value was published, set or promoted, until it is replaced, removed or evicted, or expires.
  case ready(Held<Value>)
}

/// A value that is held in memory, and what is known of it. Its cost is in its slot's node.
@usableFromInline
struct Held<Value: Sendable> {
  @usableFromInline let value: Value
  /// When it expires; `distantFuture` for never.
  @usableFromInline let deadline: MonotonicTime
  /// Whether the second tier holds the same value, staged or committed. Whoever takes the last copy announces its end.
  @usableFromInline var isPersisted: Bool

  @inlinable
  init(value: Value, deadline: MonotonicTime, isPersisted: Bool) {
    self.value = value
    self.deadline = deadline
    self.isPersisted = isPersisted
  }

  @inlinable
  func isExpired(at now: MonotonicTime) -> Bool { deadline <= now }
}

extension Entry {
  /// Whether it holds a value.
  @inlinable
  var isReady: Bool { if case .ready = self { true } else { false } }
}

// MARK: Events

extension Entry {
  /// What a load finds.
  @usableFromInline
  enum LoadDecision {
    /// A value to return.
    case hit(Value)
    /// A flight to wait for, as the waiter with this number; its work is to be raised where a priority is given.
    case join(Flight<Value>, waiter: Int, raiseTo: Urgency?)
    /// Nothing: a new flight, with its first waiter, took the place of what was there.
    case lead(Flight<Value>, waiter: Int)
    /// A value past its time. It is still there: its end has to be announced first.
    case expired
  }

  /// Someone wants the value. `makeFlight` is called only to lead.
  @inlinable
  static func load(
    _ entry: inout Entry?, at now: MonotonicTime, priority: TaskPriority, makeFlight: () -> Flight<Value>
  ) -> LoadDecision {
    switch entry {
    case .ready(let held):
      return held.isExpired(at: now) ? .expired : .hit(held.value)
    case .inProgress(let flight):
      if case .joined(let waiter, let raised) = flight.join(Urgency(priority)) {
        return .join(flight, waiter: waiter, raiseTo: raised)
      }
    // Abandoned: it takes no waiters, and the entry's removal is on its way. A new flight need not wait for that.
    case nil:
      break
    }
    let flight = makeFlight()
    entry = .inProgress(flight)
    guard case .joined(let waiter, _) = flight.join(Urgency(priority)) else {
      preconditionFailure("a new flight takes waiters")
    }
    return .lead(flight, waiter: waiter)
  }

  /// Whether a flight may bring its result: only into the entry that is still its own.
  @inlinable
  static func isOwn(_ flight: Flight<Value>, _ entry: Entry?) -> Bool {
    switch entry {
    case .inProgress(let current): current === flight
    case .ready, nil: false
    }
  }

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
    return switch (condition, entry) {
    case (.always, _): true
    case (.unedited, _): !isEdited
    case (.unchanged(let earlier, let flight), let entry):
      watched?.version == earlier && (flight.map { isOwn($0, entry) } ?? true)
    case (.own(let flight), let entry): !isEdited && isOwn(flight, entry)
    case (.untouched(let earlier), nil): !isEdited && earlier == stamp
    case (.untouched, _): false
    case (.expired(let now), .ready(let held)): held.isExpired(at: now)
    case (.expired, _): false
    }
  }

  /// A value arrives, by a set, by promotion, or from a flight that may publish; nil where the key is to have nothing,
  /// because it was removed, its value was refused, or it is past its time. A flight in progress is disowned.
  @inlinable
  static func arrive(_ entry: inout Entry?, _ held: Held<Value>?) {
    entry = held.map { .ready($0) }
  }

  /// A flight ends with nothing to publish: it failed, or its last waiter left. Gone before any waiter runs, so that a
  /// retry from a catch block starts a new flight.
  ///
  /// - Returns: whether the entry was the flight's own, and is absent now.
  @inlinable
  static func end(_ flight: Flight<Value>, _ entry: inout Entry?) -> Bool {
    guard isOwn(flight, entry) else { return false }
    entry = nil
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
  /// While the key is absent, and was not written since a look-up gave this stamp: a promotion.
  case untouched(stamp: UInt32)
  /// While the entry holds a value that is past its time.
  case expired(at: MonotonicTime)
}
