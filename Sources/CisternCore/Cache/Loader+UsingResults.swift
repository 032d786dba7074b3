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
