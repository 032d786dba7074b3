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
