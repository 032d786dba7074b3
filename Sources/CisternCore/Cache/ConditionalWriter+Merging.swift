// Merging of arriving values with cached ones (`CacheConfiguration.merge`).

extension ConditionalWriter {
  /// Stores a value that is set, merged with the cached one.
  ///
  /// - Returns: The applied write.
  /// - Throws: `CisternError` if the values cannot be merged, which is reported. The cached value stays.
  @usableFromInline
  func mergeAndSet(_ value: Value, for key: HashedKey<Key>, options: ReplacementOptions) throws(CisternError)
    -> AppliedWrite<
      Value
    >
  {
    let options = ReplacementOptions(
      keptTags.arriving(options.writeOptions), effect: newValueEffect, context: options.context)
    return try readModifyWrite(key, options: options) { snapshot throws(CisternError) in
      .store(try merged(value, over: snapshot.usable, for: key.key))
    }
  }

  /// The meaning of an arriving value for flights in progress. If the cache merges, they are merged under the value.
  /// Otherwise, they are over.
  @inlinable
  var newValueEffect: WriteEffect { merge == nil ? .replacement : .addition }

  /// Returns the merged value, or the incoming one if the cache does not merge or has no value.
  @inlinable
  func merged(_ incoming: Value, over cached: Value?, for key: Key) throws(CisternError) -> Value {
    guard let merge, let cached else { return incoming }
    return try merged(incoming, over: cached, for: key, by: merge)
  }

  @usableFromInline
  func merged(
    _ incoming: Value, over cached: Value, for key: Key, by merge: (Value, Value) throws -> Value
  ) throws(CisternError) -> Value {
    let location = reports.location(of: key)
    do {
      return try merge(cached, incoming)
    } catch let error as UnusableCachedValue {
      let message = "a cached value that nothing can be merged with was replaced by the arriving one"
      reports.send(StoreReport(.notMerged, message, location: location, cause: error.cause))
      return incoming
    } catch {
      let message = "a value could not be merged with the cached one, which stays; the arriving one was not stored"
      reports.send(StoreReport(.notMerged, message, location: location, cause: error))
      throw CisternError(.notMerged, message, location: location, cause: error)
    }
  }
}

// MARK: Fetched values

extension ConditionalWriter {
  /// Stores a fetched value, merged with the cached one.
  ///
  /// If the key was set since the fetch began, the set value is the newer one. The fetched value is merged *under* it,
  /// unless its own lifetime is zero. If the key was removed, its value was replaced by an update, or another flight
  /// replaced this one, nothing is stored.
  ///
  /// - Returns: The value for the waiters. Throws if it cannot be merged.
  @usableFromInline
  func mergeAndPublish(_ fetched: FetchedValue<Key, Value>, since base: MergeBase<Key, Value>) throws -> Value {
    let (value, flight, key) = (fetched.value, fetched.flight, fetched.key)
    while !flight.isInvalidated {
      let snapshot = records.snapshot(of: key, readBy: flight)
      let tags = writes.allTags(of: value, and: fetched.writeOptions.namedTags)
      let result: Value
      let isOvertaken = snapshot.flight == nil
      if isOvertaken { flight.noteDisowned() }
      if !isOvertaken {
        result = try merged(value, over: snapshot.usable, for: key.key)
      } else if merge != nil, !flight.isAbandoned, !flight.isReplaced, snapshot.version.ends == base.version.ends,
        let newer = snapshot.usable, !(fetched.writeOptions.expiry?.refusesWrite ?? false)
      {
        // An invalidation that concerns the fetched value ends the attempt, and the next one drops the value.
        table.noteRead(key, tags: tags, version: snapshot.version, since: flight.invalidationVersion)
        result = try merged(newer, over: value, for: key.key)
      } else {
        // The flight has no entry any more. Callers that joined it after an invalidation must not get the value.
        table.noteInvalidation(of: flight, for: key, tags: tags)
        return value
      }
      var writeOptions = keptTags.arriving(fetched.writeOptions, over: snapshot, isNewer: isOvertaken)
      // The set value is the incoming one, so the merged value ends with it.
      if isOvertaken { writeOptions = writeOptions.ending(with: snapshot.timing, at: writes.lifetimes.clockTime()) }
      // A flight that began after the newer value has the entry, and is merged over both.
      let options = ReplacementOptions(writeOptions, effect: isOvertaken ? .olderAddition : newValueEffect)
      if let written = compareAndSet(.store(result), of: key, replacing: snapshot, options: options) {
        note(written, by: flight)
        return result
      }
    }
    table.endWithoutStoring(flight, of: key)
    return value
  }

  /// Stores a fetched value as the confirmed one, if unconfirmed edits lie over the flight's own entry.
  ///
  /// The edits may have ended since they prevented the write of the value. The value is then stored without them.
  ///
  /// - Returns: Whether the value was stored, or refused by both tiers. The flight has then left its entry.
  @usableFromInline
  func publishBelowEdits(_ fetched: FetchedValue<Key, Value>) -> Bool {
    let (flight, key) = (fetched.flight, fetched.key)
    // A write or an invalidation has ended most of the flights that come here.
    guard !flight.isInvalidated, table.flight(of: key) === flight else { return false }
    table.watch(key)
    defer { table.unwatch(key) }
    while true {
      let snapshot = records.snapshot(of: key, readBy: flight)
      guard snapshot.flight != nil, !flight.isInvalidated else { return false }
      let options = ReplacementOptions(fetched.writeOptions)
      if let written = compareAndSet(.store(fetched.value), of: key, replacing: snapshot, options: options) {
        note(written, by: flight)
        return true
      }
    }
  }

  /// Notes the lifetime and the tags with which the result of a flight was stored, before the flight completes.
  private func note(_ written: AppliedWrite<Value>, by flight: Flight<Value>) {
    guard let timing = written.timing else {
      // Its lifetime is zero, or its size is not known. Nothing has compared its tags with invalidations.
      return table.noteUnstoredResult(of: flight)
    }
    flight.noteStored(timing)
  }
}
