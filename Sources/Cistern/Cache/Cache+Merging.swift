// How an arriving value is merged with what is cached (`CacheConfiguration.merge`), on every way that values arrive.

extension Cache {
  /// Stores a value that is set, merged with what is cached.
  ///
  /// Throws where it cannot be merged, which is reported; what is cached stays.
  @usableFromInline
  func arrive(
    _ value: Value, forKey key: Key, hash: UInt64, storing: Storing, context: WriterContext?
  ) throws(CisternError) -> Written<Value> {
    try rewrite(key, hash: hash, storing: arriving(storing), effect: arrivalEffect, context: context) {
      finding throws(CisternError) in
      .store(try merged(value, over: finding.usable, forKey: key))
    }
  }

  /// What a value that arrives does to flights on their way: merged with, they are merged under it; else they are over.
  @inlinable
  var arrivalEffect: WriteEffect { merge == nil ? .replacement : .arrival }

  /// Runs the user's merge, where there is one and something to merge with.
  @inlinable
  func merged(_ incoming: Value, over cached: Value?, forKey key: Key) throws(CisternError) -> Value {
    guard let merge, let cached else { return incoming }
    return try merged(incoming, over: cached, forKey: key, by: merge)
  }

  @usableFromInline
  func merged(
    _ incoming: Value, over cached: Value, forKey key: Key, by merge: (Value, Value) throws -> Value
  ) throws(CisternError) -> Value {
    do {
      return try merge(cached, incoming)
    } catch let error as UnusableCachedValue {
      let message = "a cached value that nothing can be merged with was replaced by the arriving one"
      report(StoreReport(.notMerged, message, location: location(of: key), cause: error.cause))
      return incoming
    } catch {
      let message = "a value could not be merged with the cached one, which stays; the arriving one was not stored"
      report(StoreReport(.notMerged, message, location: location(of: key), cause: error))
      throw CisternError(.notMerged, message, location: location(of: key), cause: error)
    }
  }
}

// MARK: Loads

/// When a flight's fetch began, in a cache whose writes depend on what is cached: tells at its end what came between.
@usableFromInline
struct FlightDeparture<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let table: EntryTable<Key, Value>
  let hash: UInt64
  let version: KeyVersions.Version

  /// To be called once, when the flight has published or failed.
  @usableFromInline
  func end() { table.unwatch(hash) }
}

extension Cache {
  /// To be noted before a fetch begins; nil where publishing depends on nothing but the entry.
  @inlinable
  func departure(of flight: Flight<Value>, hash: UInt64) -> FlightDeparture<Key, Value>? {
    dependsOnCached ? watchedDeparture(of: flight, hash: hash) : nil
  }

  @usableFromInline
  func watchedDeparture(of flight: Flight<Value>, hash: UInt64) -> FlightDeparture<Key, Value> {
    FlightDeparture(table: table, hash: hash, version: table.watch(hash, fetchedSince: flight.era))
  }

  /// Stores what a flight brought, merged with what is cached.
  ///
  /// Where the key was set meanwhile, what was set is the newer, and the flight's value is merged *under* it: its fields
  /// fill in what was not set. Where the key was removed, or its value replaced by an update, nothing is stored.
  ///
  /// - Returns: what the waiters get. Throws where it cannot be merged.
  @usableFromInline
  func publishMerged(
    _ value: Value, of flight: Flight<Value>, since departure: FlightDeparture<Key, Value>, forKey key: Key,
    hash: UInt64, storing: Storing
  ) async throws -> Value {
    await secondTier?.partition.waitForRoom()
    while true {
      if flight.isInvalidated {
        // The entry must not wait for it any more.
        table.end(flight, forKey: key, hash: hash)
        return value
      }
      let finding = find(key, hash: hash, isOwnOf: flight)
      let result: Value
      let isOvertaken = finding.flight == nil
      if !isOvertaken {
        result = try merged(value, over: finding.usable, forKey: key)
      } else if merge != nil, !flight.isAbandoned, finding.version.ends == departure.version.ends,
        let newer = finding.usable
      {
        // An invalidation that concerns the fetched value ends the attempt, and the next one drops the value.
        table.noteRead(
          key, hash: hash, tags: allTags(of: value, and: storing.namedTags), version: finding.version, since: flight.era
        )
        result = try merged(newer, over: value, forKey: key)
      } else {
        // Those who joined it after an invalidation must not have it, though it has no entry to lose any more.
        table.noteInvalidation(of: flight, forKey: key, hash: hash, tags: allTags(of: value, and: storing.namedTags))
        return value
      }
      let written = attempt(
        .store(result), replacing: finding, forKey: key, hash: hash,
        storing: arriving(storing, over: finding, isNewer: isOvertaken), effect: arrivalEffect, context: nil)
      if written != nil { return result }
    }
  }
}
