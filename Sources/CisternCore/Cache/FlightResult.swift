/// The outcome of a flight for one of its waiters, with the terms of the wait.
@usableFromInline
struct FlightResult<Value: Sendable>: Sendable {
  @usableFromInline let outcome: FlightOutcome<Value>
  @usableFromInline let flight: Flight<Value>
  /// The source of a value: a fetch, if the waiter leads the flight.
  @usableFromInline let source: Loaded<Value>.Source
  /// The invalidation version when the wait began. The value must be newer than the invalidations up to it.
  @usableFromInline let invalidationVersion: InvalidationVersion

  @inlinable
  @inline(__always)
  init(
    _ outcome: FlightOutcome<Value>, of flight: Flight<Value>, from source: Loaded<Value>.Source,
    since invalidationVersion: InvalidationVersion
  ) {
    self.outcome = outcome
    self.flight = flight
    self.source = source
    self.invalidationVersion = invalidationVersion
  }
}

extension Loader {
  /// Returns the value that a flight brought to a waiter.
  ///
  /// - Returns: The value; nil if the flight brought no result that this waiter may have. The waiter must then look
  ///   again.
  /// - Throws: The error of the flight, and ``AbsentValue`` if the origin has no value.
  @inlinable
  @inline(__always)
  func use(
    _ result: FlightResult<Value>, of key: HashedKey<Key>, for options: LoadOptions?
  ) throws -> Loaded<Value>? {
    let (flight, source) = (result.flight, result.source)
    switch result.outcome {
    case .value(let value):
      if flight.isInvalidated(since: result.invalidationVersion)
        || !flight.satisfies((options?.policy ?? settings.policy).demand)
      {
        return nil
      }
      return loaded(value, from: source, by: flight, for: options)
    case .early(let value):
      // A leader began before the flight, so that its value is current.
      guard source == .fetched || acceptsAnnouncement(of: flight, for: key, since: result.invalidationVersion) else {
        return nil
      }
      return Loaded(value: value, source: source)
    case .absent:
      if flight.isInvalidated(since: result.invalidationVersion) { return nil }
      throw AbsentValue()
    case .failed(let error):
      throw error
    case .lookAgain, .timedOut:
      return nil
    }
  }
}
