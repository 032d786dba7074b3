/// The state of a value at one instant, as determined by its age.
@usableFromInline
enum Freshness: Equatable, Sendable {
  /// Usable for all loads that accept cached values.
  case fresh
  /// Usable as a fresh value, and due for a refresh.
  case refreshDue
  /// In grace, past its lifetime by this number of nanoseconds. Usable for loads that accept stale values.
  /// `refreshDue` is false while a pause after a failed refresh lasts.
  /// `uses` states the windows in which the value is.
  case stale(by: UInt64, refreshDue: Bool, uses: StaleUses = StaleUses())
  /// Not usable. The entry still exists, because its removal must be announced first.
  case gone
}

extension Freshness {
  /// Whether the value is within its lifetime.
  ///
  /// A value can pass the end of its grace between two reads of the clock. A value that is not stale can therefore be
  /// gone.
  @usableFromInline
  var isFresh: Bool {
    switch self {
    case .fresh, .refreshDue: true
    case .stale, .gone: false
    }
  }

  /// Whether a load may return the value because its fetch failed or takes too long.
  var permitsFallback: Bool {
    switch self {
    case .fresh, .refreshDue: true
    case .stale(_, _, let uses): uses.ifError
    case .gone: false
    }
  }
}
