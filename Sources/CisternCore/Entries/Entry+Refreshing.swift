extension Entry {
  /// The result of a request for a refresh without waiters.
  enum RefreshDecision {
    /// The caller starts this flight. It has no waiters, and continues without them.
    case start(Flight<Value>)
    /// A flight is in progress, or the pause after a failure holds.
    case decline
    /// The value is past its grace period. The entry still holds it, because its end must be announced first.
    case expired
  }

  /// Decides whether a flight without waiters begins.
  ///
  /// - Parameters:
  ///   - entry: The key's entry. It changes if a flight begins.
  ///   - now: The time of the request.
  ///   - makeFlight: Creates a flight. Called only if one begins.
  /// - Returns: The decision.
  static func refresh(_ entry: inout Entry?, at now: MonotonicTime, makeFlight: () -> Flight<Value>) -> RefreshDecision
  {
    if let held = entry?.held {
      switch held.freshness(at: now) {
      case .gone: return .expired
      case .stale(_, refreshDue: false, _): return .decline
      case .fresh, .refreshDue, .stale: break
      }
    }
    // The entry of an abandoned flight is about to be removed.
    if let flight = entry?.flight, !flight.isAbandoned { return .decline }
    let flight = makeFlight()
    flight.beginRefresh()
    entry = entry?.held.map { .refreshing(Refreshing(held: $0, flight: flight)) } ?? .inProgress(flight)
    return .start(flight)
  }
}
