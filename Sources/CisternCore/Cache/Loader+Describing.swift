// The details of a loaded value, for the loads that ask for them.

extension Loader {
  /// Returns the result of a flight, with its details if the load asks for them.
  @inlinable
  @inline(__always)
  func loaded(
    _ value: Value, from source: Loaded<Value>.Source, by flight: Flight<Value>, for options: LoadOptions?
  ) -> Loaded<Value> {
    guard let options, options.describes else { return Loaded(value: value, source: source) }
    return described(value, from: source, by: flight)
  }

  @inlinable
  @inline(never)
  func described(_ value: Value, from source: Loaded<Value>.Source, by flight: Flight<Value>) -> Loaded<Value> {
    let isNew = !flight.isFromSecondTier
    var details = ValueDetails.new
    // Most values have no lifetime. Their details need neither the clock nor an object.
    if let timing = flight.storedTiming, !(isNew && timing.isPlainForever) {
      details = ValueDetails(timing, at: lifetimes.clock.now(), isNew: isNew)
    }
    return Loaded(value: value, source: source, details: details)
  }

  /// Returns a value of memory, with its details if the load asks for them.
  @inlinable
  func loaded(_ held: CachedValue<Value>, isStale: Bool, for options: LoadOptions?) -> Loaded<Value> {
    guard let options, options.describes else {
      return Loaded(value: held.value, source: .memory, isStale: isStale)
    }
    return records.described(held.value, held.timing, from: .memory, isStale: isStale)
  }

  /// Returns whether a load that joined a flight may use the value that the flight announced. If not, the method ends
  /// the flight's entry or withdraws the announcement, and the load must look again.
  ///
  /// The tags of an announced value are not known. A load that began after an invalidation that began after the flight
  /// therefore waits for the result, whose tags are compared. A load of a key that unconfirmed edits remove starts
  /// another flight, because the edits may have begun after the announcement.
  ///
  /// - Returns: Whether the load may use the value.
  @usableFromInline
  func acceptsAnnouncement(
    of flight: Flight<Value>, for key: HashedKey<Key>, since invalidationVersion: InvalidationVersion
  ) -> Bool {
    if case .shows(nil) = records.viewOfEdits(of: key.key) {
      table.end(flight, of: key)
      return false
    }
    guard invalidationVersion > flight.invalidationVersion else { return true }
    flight.withdrawAnnouncement()
    return false
  }
}

extension SecondTierReader {
  /// Returns a value with its details.
  @inlinable
  @inline(never)
  func described(
    _ value: Value, _ timing: Timing, from source: Loaded<Value>.Source, isStale: Bool = false
  ) -> Loaded<Value> {
    Loaded(
      value: value, source: source, isStale: isStale, details: ValueDetails(timing, at: lifetimes.clock.now()))
  }
}
