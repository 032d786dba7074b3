// Flights whose fetch receives a context and returns an outcome.

extension Loader {
  /// Runs the second half of such a flight: reads the stored value, fetches, applies the outcome, and completes.
  @inlinable
  @inline(never)
  func runWithContext(_ flight: Flight<Value>, for request: Request) async {
    guard case .withContext(let fetch) = request.fetch else { preconditionFailure("a plain fetch takes no context") }
    let key = request.key
    let base = contextBase(of: flight, for: key)
    defer { base?.end() }
    let context = contextFlight(flight, of: key, since: base)
    do {
      var attempt = 0
      let outcome = try await flight.work.identity.fetching {
        defer { context.noteEndOfFetch() }
        return try await settings.fetchWithRetries(hash: key.hash, clock: lifetimes.clock) {
          () async throws -> FetchOutcome<Value> in
          attempt += 1
          return try await fetch(FetchContext(context, attempt: attempt))
        }
      }
      try await complete(context, with: outcome, of: key, since: base)
    } catch {
      fail(flight, of: key, .failed(error))
    }
  }

  /// Returns the state of the key before a fetch with a context; nil if no value is stored that the fetch could keep.
  @inlinable
  func contextBase(of flight: Flight<Value>, for key: HashedKey<Key>) -> MergeBase<Key, Value>? {
    dependsOnCached || records.mayHaveStoredValue(of: key) ? makeMergeBase(of: flight, for: key) : nil
  }

  /// Reads the stored value of a key for the fetch of its flight.
  ///
  /// The flight has taken the entry, and the key is watched. A later write or invalidation of the value therefore
  /// either takes the entry from the flight or changes the version of the key.
  ///
  /// - Returns: The flight with the stored value.
  @inlinable
  func contextFlight(
    _ flight: Flight<Value>, of key: HashedKey<Key>, since base: MergeBase<Key, Value>?
  ) -> ContextFlight<Key, Value> {
    // A value that was stored after the key was found without one is not watched, and not passed to the fetch.
    let stored = base.flatMap { _ in records.storedValue(of: key, for: flight) }
    if let stored { base?.noteRead(tags: stored.timing.tags, by: flight) }
    return ContextFlight(flight, of: key, stored: stored, conditionalWriter: conditionalWriter)
  }

  /// Applies the outcome of a fetch, and completes its flight.
  ///
  /// - Throws: An error if the outcome cannot be applied. The flight is then in progress.
  @inlinable
  func complete(
    _ context: ContextFlight<Key, Value>, with outcome: FetchOutcome<Value>, of key: HashedKey<Key>,
    since base: MergeBase<Key, Value>?
  ) async throws {
    guard let value = outcome.valueToStore else {
      return try await complete(context, withoutStoring: outcome, of: key, since: base)
    }
    let options = LoadOptions.unlessDefault(expiry: outcome.expiry, tags: outcome.tags ?? [], policy: nil)
    let fetched = FetchedValue(value, of: context.flight, for: key, options: options)
    let published = try await publish(fetched, since: dependsOnCached ? base : nil)
    context.flight.complete(.value(published))
  }

  /// Applies an outcome that brings no value to store.
  @usableFromInline
  func complete(
    _ context: ContextFlight<Key, Value>, withoutStoring outcome: FetchOutcome<Value>, of key: HashedKey<Key>,
    since base: MergeBase<Key, Value>?
  ) async throws {
    let flight = context.flight
    switch outcome.kind {
    case .store, .absent:
      // No value represents the absence.
      removeAndComplete(flight, .absent, of: key)
    case .keepStored:
      guard let stored = context.stored, let base else { throw nothingToKeep(key) }
      await secondTier?.partition.waitForRoom()
      if conditionalWriter.keep(stored, readAt: base.version, as: outcome, of: flight, for: key) {
        flight.complete(.value(stored.value))
      } else {
        complete(flight, .value(stored.value), of: key)
      }
    case .returnOnly(let value):
      complete(flight, .value(value), of: key)
    case .returnAndRemove(let value):
      removeAndComplete(flight, .value(value), of: key)
    }
  }

  /// Completes a flight whose result was not stored.
  private func complete(_ flight: Flight<Value>, _ outcome: FlightOutcome<Value>, of key: HashedKey<Key>) {
    // The flight leaves its entry first: a caller that begins after an invalidation from now on finds no flight.
    table.endWithoutStoring(flight, of: key)
    table.noteUnstoredResult(of: flight)
    flight.complete(outcome)
  }

  /// Completes a flight whose result removes the older value.
  private func removeAndComplete(_ flight: Flight<Value>, _ outcome: FlightOutcome<Value>, of key: HashedKey<Key>) {
    // A flight that removed the value itself has left its entry, and no write has taken that.
    guard conditionalWriter.removeFetched(key, by: flight) else { return complete(flight, outcome, of: key) }
    table.noteUnstoredResult(of: flight)
    flight.complete(outcome)
  }

  private func nothingToKeep(_ key: HashedKey<Key>) -> CisternError {
    CisternError(
      .invalidArgument,
      "the fetch returned keepStored, but the cache had no value of the key when the fetch began; return store(_:expiry:tags:) if context.stored is nil",
      location: reports.location(of: key.key))
  }
}
