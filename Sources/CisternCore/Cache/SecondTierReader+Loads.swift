// Loads and the second tier. The leader of a flight looks there before it fetches. Other loads look there beside a
// flight whose leader does not.

/// The answer of the second tier to the leader of a flight.
@usableFromInline
enum SecondTierLookup<Value: Sendable> {
  /// A value that needs no fetch. The flight has ended.
  case completed(Loaded<Value>)
  /// A value that is returned at once. The flight goes on without waiters, and must be started.
  case refreshing(Loaded<Value>)
  /// The key was written concurrently. The flight has ended.
  case lookAgain
  /// No value to return: the flight must be started. With an older value, in case the fetch fails.
  case nothing(fallback: Fallback<Value>?)
}

/// The answer of the second tier to a load beside a flight.
@usableFromInline
enum LookupBesideFlight<Value: Sendable> {
  /// A value to return.
  case loaded(Loaded<Value>)
  /// No value to return. With an older value, in case the flight fails.
  case nothing(fallback: Fallback<Value>?)
}

extension SecondTierReader {
  /// Looks in the second tier for the leader of a flight.
  ///
  /// The look-up runs on the leader's thread, because a read of a resident page costs less than a task.
  ///
  /// - Returns: The value, or the next step of the load.
  @inlinable
  func lookUp(
    for flight: Flight<Value>, of key: HashedKey<Key>, accepting demand: Demand
  ) -> SecondTierLookup<Value> {
    if !edits.isEmpty, let result = complete(flight, withEditsOf: key, accepting: demand) { return result }
    guard demand.acceptsFresh, let secondTier, let interpretation = interpretedRecord(of: key, in: secondTier) else {
      return .nothing(fallback: nil)
    }
    guard case .usable(let found) = interpretation else {
      discard(interpretation, of: key, if: .leading(flight))
      return .nothing(fallback: nil)
    }
    let verdict = demand.verdict(on: found.timing.freshness(at: lifetimes.now()))
    guard verdict == .use(isStale: false, refreshes: false) else {
      return useOlder(found, verdict, for: flight, of: key)
    }
    let promotion = promote(found, of: key, if: .leading(flight), hit: .fresh)
    flight.noteFromSecondTier()
    flight.noteStored(found.timing)
    // Waiters may have joined after other readers found no record, or another one: they look again.
    let isOutdated = promotion == .recordLost || flight.hasNewerRecord
    table.complete(flight, isOutdated ? .lookAgain : .value(found.value), of: key)
    return .completed(loaded(found))
  }

  /// Completes a flight with the value that the unconfirmed edits of its key show. Returns nil for a key without edits.
  ///
  /// The look-up counts as a hit in memory, as all look-ups of such a value do.
  @usableFromInline
  @inline(never)
  func complete(
    _ flight: Flight<Value>, withEditsOf key: HashedKey<Key>, accepting demand: Demand
  ) -> SecondTierLookup<Value>? {
    guard let edited = edits[key.key] else { return nil }
    guard demand.acceptsFresh, let shown = edited.shown else { return .nothing(fallback: nil) }
    flight.noteFromSecondTier()
    flight.noteStored(edited.shownTiming)
    table.count(key.hash) { $0.memoryHits += 1 }
    table.complete(flight, .value(shown), of: key)
    return .completed(described(shown, edited.shownTiming, from: .memory))
  }

  /// Uses a value that the leader found, and that is stale or due for a refresh.
  ///
  /// Each waiter that joined the flight looks again, because it may or may not accept the value. The waiters find the
  /// value in memory, or in the second tier if memory could not hold it.
  ///
  /// - Returns: The value, or the next step of the load.
  @usableFromInline
  func useOlder(
    _ found: DecodedRecord<Value>, _ verdict: Demand.Verdict, for flight: Flight<Value>, of key: HashedKey<Key>
  ) -> SecondTierLookup<Value> {
    switch verdict {
    case .gone:
      return .nothing(fallback: nil)
    case .use(let isStale, refreshes: false):
      promote(found, of: key, if: .leading(flight), isNeeded: true, hit: isStale ? .stale : .fresh)
      table.complete(flight, .lookAgain, of: key)
      return .completed(loaded(found, isStale: isStale))
    case .use(let isStale, refreshes: true):
      guard keep(found, beside: flight, of: key) else { return .lookAgain }
      table.count(key.hash) { counters in
        counters.refreshes += 1
        counters.count(isStale ? .stale : RecordHit.fresh)
      }
      noteUse(of: key)
      flight.beginRefresh()
      flight.withdraw(Flight<Value>.leader)
      flight.returnWaiters()
      return .refreshing(loaded(found, isStale: isStale))
    case .fetch(let fallsBack):
      guard keep(found, beside: flight, of: key) else { return .lookAgain }
      flight.returnWaiters()
      return .nothing(fallback: fallsBack ? fallback(found) : nil)
    }
  }

  /// Puts a value into memory beside its key's flight, which continues.
  ///
  /// - Returns: Whether the flight is in progress. False if the key was written concurrently, which ends the flight.
  private func keep(_ found: DecodedRecord<Value>, beside flight: Flight<Value>, of key: HashedKey<Key>) -> Bool {
    let promotion = promote(
      found, of: key, if: .beside(flight, invalidationVersion: flight.invalidationVersion), isNeeded: true)
    if promotion == .overtaken {
      table.complete(flight, .lookAgain, of: key)
      return false
    }
    // A value whose record is lost is returned and not kept, like a value that memory cannot hold. To look again would
    // repeat until the commit that removes the record is visible.
    table.leaveSecondTierToNextLoad(flight, hash: key.hash)
    return true
  }

  /// Returns the value of a record with its details. The decoding of the record costs more than the details.
  @usableFromInline
  func loaded(_ found: DecodedRecord<Value>, isStale: Bool = false) -> Loaded<Value> {
    described(found.value, found.timing, from: .secondTier, isStale: isStale)
  }

  private func fallback(_ found: DecodedRecord<Value>) -> Fallback<Value> {
    Fallback(CachedValue(value: found.value, timing: found.timing, isPersisted: true), isFromSecondTier: true)
  }

  /// Looks in the second tier for a load that has joined a flight, unless it looked beside this flight before.
  ///
  /// The key can have changed since the look-up beside an earlier flight. The method counts the join if the load waits
  /// for the flight. Otherwise, it counts the hit alone.
  ///
  /// - Parameters:
  ///   - flight: The flight that the load has joined.
  ///   - lookedUp: The flight of the former look-up, and the older value that the second tier had.
  ///   - invalidationVersion: The invalidation version when the load began.
  ///   - key: The key.
  ///   - demand: The values that the load accepts.
  /// - Returns: The value that the demand accepts, or the older value for the case that the flight fails.
  @usableFromInline
  @inline(never)
  func lookUp(
    beside flight: Flight<Value>, after lookedUp: (fallback: Fallback<Value>?, flight: Flight<Value>),
    since invalidationVersion: InvalidationVersion, of key: HashedKey<Key>, _ demand: Demand
  ) -> LookupBesideFlight<Value> {
    let found: LookupBesideFlight<Value>
    if lookedUp.flight === flight {
      found = .nothing(fallback: lookedUp.fallback)
    } else {
      found = lookUp(beside: flight, since: invalidationVersion, of: key, accepting: demand)
    }
    if case .nothing = found { table.count(key.hash) { $0.joins += 1 } }
    return found
  }

  /// Looks in the second tier before a load joins the refresh of a value that memory does not hold.
  ///
  /// The refresh itself does not look there. The flight stays in progress.
  ///
  /// - Returns: The value that the demand accepts, or the older value for the case that the flight fails.
  @usableFromInline
  @inline(never)
  func lookUp(
    beside flight: Flight<Value>, since invalidationVersion: InvalidationVersion, of key: HashedKey<Key>,
    accepting demand: Demand
  ) -> LookupBesideFlight<Value> {
    if case .shows(let shown) = loadedFromEdits(key) { return shown.map { .loaded($0) } ?? .nothing(fallback: nil) }
    guard let secondTier, let interpretation = interpretedRecord(of: key, in: secondTier) else {
      return .nothing(fallback: nil)
    }
    guard case .usable(let found) = interpretation else {
      discard(interpretation, of: key, if: .leading(flight))
      return .nothing(fallback: nil)
    }
    let verdict = demand.verdict(on: found.timing.freshness(at: lifetimes.now()))
    switch verdict {
    case .gone:
      return .nothing(fallback: nil)
    case .use(let isStale, _):
      promote(
        found, of: key, if: .beside(flight, invalidationVersion: invalidationVersion), isNeeded: isStale,
        hit: isStale ? .stale : .fresh)
      return .loaded(loaded(found, isStale: isStale))
    case .fetch(let fallsBack):
      promote(found, of: key, if: .beside(flight, invalidationVersion: invalidationVersion), isNeeded: true)
      return .nothing(fallback: fallsBack ? fallback(found) : nil)
    }
  }
}
