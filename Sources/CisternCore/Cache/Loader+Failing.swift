// Flights that end without a value.

extension Loader {
  /// Ends a flight without a value.
  ///
  /// The entry loses the flight before its waiters resume, so a waiter that loads again starts a new flight. A value
  /// that the flight was to refresh stays, and no refresh is due for a while.
  @inlinable
  @inline(never)
  func fail(_ flight: Flight<Value>, of key: HashedKey<Key>, _ outcome: FlightOutcome<Value>) {
    let isOwn = table.endWithoutStoring(flight, of: key, pause: retryPause(after: outcome))
    guard case .failed(let error) = outcome else { return flight.complete(outcome) }
    flight.complete(.failed(noteFailure(of: flight, of: key, error, isOwn: isOwn)))
  }

  /// Returns the pause that begins with a failure now.
  ///
  /// - Parameter outcome: The outcome of the flight; nil for one that takes too long.
  /// - Returns: The pause. It lets no load return a stale value if the error must reach the callers. A fetch that the
  ///   circuit breaker rejected sent no request, so the pause ends when the breaker permits the next one.
  @usableFromInline
  func retryPause(after outcome: FlightOutcome<Value>? = nil) -> RetryPause {
    var (length, permitsFallback) = (settings.refreshRetryInterval, true)
    switch outcome {
    case .failed(let error)?:
      permitsFallback = fallsBack(after: error)
      if let rejection = error as? CircuitRejection { length = min(length, rejection.pause) }
    // The callers look again, and fetch.
    case .lookAgain?: permitsFallback = false
    default: break
    }
    return RetryPause(
      end: lifetimes.clockTime().advanced(by: length), start: lifetimes.wallNow(), permitsFallback: permitsFallback)
  }

  /// Counts and reports the failure of a flight, before it completes.
  ///
  /// A flight that was abandoned has not failed. Neither has the flight of a key that a bulk fetch omitted.
  ///
  /// - Returns: The error for the waiters.
  @usableFromInline
  func noteFailure(
    of flight: Flight<Value>, of key: HashedKey<Key>, _ error: any Error, isOwn: Bool
  ) -> any Error {
    let rejection = error as? CircuitRejection
    let error = rejection?.error(location: reports.location(of: key.key)) ?? error
    // A write or another flight may have taken the entry. The failure counts if callers still wait for this fetch.
    guard isOwn || flight.isAwaited else { return error }
    table.count(key.hash) { counters in
      if rejection == nil { counters.failures += 1 } else { counters.rejected += 1 }
    }
    if rejection == nil { events.send(CacheEvent(.fetchFailed, key.key, error)) }
    // A flight without waiters began in the background, or its waiters left.
    if !flight.isAwaited { noteFailedRefresh(of: key.key, error) }
    return error
  }
}
