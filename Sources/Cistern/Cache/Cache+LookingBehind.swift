// Loads and the second tier: a leader looks there before it fetches, and others look there beside a flight that does not.

extension Cache {
  /// What a flight's leader found in the second tier.
  @usableFromInline
  enum Landing {
    /// A value that needs no fetch. The flight has ended.
    case landed(Loaded<Value>)
    /// A value that is returned at once. The flight goes on without waiters, and is to be started.
    case refreshing(Loaded<Value>)
    /// The key was written concurrently. The flight has ended.
    case lookAgain
    /// Nothing that is returned: the flight is to be started. An older value, if the fetch may fail.
    case nothing(instead: Fallback<Value>?)
  }

  /// The first half of a flight, on its leader's thread: the second tier. A resident page costs less than a task.
  @inlinable
  func landFromSecondTier(
    _ flight: Flight<Value>, forKey key: Key, hash: UInt64, accepting demand: Demand
  ) -> Landing {
    if let shown = shownByEdits(key) {
      guard demand.acceptsFresh, let shown else { return .nothing(instead: nil) }
      flight.noteSecondTier()
      table.land(flight, .success(shown), forKey: key, hash: hash)
      return .landed(Loaded(value: shown, source: .secondTier))
    }
    guard demand.acceptsFresh, let secondTier, let record = secondTier.read(key) else { return .nothing(instead: nil) }
    let interpretation = interpret(record, forKey: key)
    guard case .usable(let found, let rewriting) = interpretation else {
      discard(interpretation, forKey: key, hash: hash, if: .own(flight))
      return .nothing(instead: nil)
    }
    let verdict = demand.verdict(on: found.timing.freshness(at: now()))
    guard verdict == .use(isStale: false, refreshes: false) else {
      return landOlder(Found(found, rewriting), verdict, of: flight, forKey: key, hash: hash)
    }
    let promotion = promote(found, rewriting: rewriting, forKey: key, hash: hash, if: .own(flight)) { $0.diskHits += 1 }
    flight.noteSecondTier()
    // Waiters may have joined after others found the record gone: they look again.
    let outcome: Flight<Value>.Outcome = promotion == .hasLeft ? .failure(LookAgain()) : .success(found.value)
    table.land(flight, outcome, forKey: key, hash: hash)
    return .landed(Loaded(value: found.value, source: .secondTier))
  }

  /// A value of the second tier, and the record to write instead of the one that was read.
  @usableFromInline
  struct Found {
    let arrival: Arrival<Value>
    let rewriting: Rewriting?

    @usableFromInline
    init(_ arrival: Arrival<Value>, _ rewriting: Rewriting?) {
      self.arrival = arrival
      self.rewriting = rewriting
    }
  }

  /// The leader found a value that is stale, or due for a refresh.
  ///
  /// Others that joined the flight may accept the value, or not: they look again. Memory has the value then; or it could not
  /// hold it, and they look in the second tier themselves.
  @usableFromInline
  func landOlder(
    _ found: Found, _ verdict: Demand.Verdict, of flight: Flight<Value>, forKey key: Key, hash: UInt64
  ) -> Landing {
    let (arrival, rewriting) = (found.arrival, found.rewriting)
    switch verdict {
    case .gone:
      return .nothing(instead: nil)
    case .use(let isStale, refreshes: false):
      promote(arrival, rewriting: rewriting, forKey: key, hash: hash, if: .own(flight), isNeeded: true) { counters in
        counters.diskHits += 1
        if isStale { counters.staleHits += 1 }
      }
      table.land(flight, .failure(LookAgain()), forKey: key, hash: hash)
      return .landed(Loaded(value: arrival.value, source: .secondTier, isStale: isStale))
    case .use(let isStale, refreshes: true):
      guard keepBeside(flight, found, forKey: key, hash: hash) else { return .lookAgain }
      table.count(hash) { counters in
        counters.diskHits += 1
        counters.refreshes += 1
        if isStale { counters.staleHits += 1 }
      }
      flight.keep()
      flight.withdraw(Flight<Value>.leader)
      flight.sendBack()
      return .refreshing(Loaded(value: arrival.value, source: .secondTier, isStale: isStale))
    case .fetch(let fallsBack):
      guard keepBeside(flight, found, forKey: key, hash: hash) else { return .lookAgain }
      flight.sendBack()
      return .nothing(instead: fallsBack ? fallback(arrival) : nil)
    }
  }

  /// Puts a value into memory beside its key's flight, which goes on. False if the key was written concurrently: then the
  /// flight has ended.
  private func keepBeside(_ flight: Flight<Value>, _ found: Found, forKey key: Key, hash: UInt64) -> Bool {
    let promotion = promote(
      found.arrival, rewriting: found.rewriting, forKey: key, hash: hash, if: .beside(flight, era: flight.era),
      isNeeded: true)
    if promotion == .overtaken {
      table.land(flight, .failure(LookAgain()), forKey: key, hash: hash)
      return false
    }
    // If the record has left, the value is used and not kept, as one that memory cannot hold. To look again would repeat
    // until the commit that removes the record can be seen.
    table.leaveSecondTierToOthers(flight, hash: hash)
    return true
  }

  private func fallback(_ arrival: Arrival<Value>) -> Fallback<Value> {
    Fallback(Held(value: arrival.value, timing: arrival.timing, isPersisted: true))
  }

  /// What a load found in the second tier beside a flight.
  @usableFromInline
  enum LookBehind {
    /// A value that is returned.
    case loaded(Loaded<Value>)
    /// Nothing that is returned. An older value, if the flight may fail.
    case nothing(instead: Fallback<Value>?)
  }

  /// Looks in the second tier before a flight is joined that does not bring what is there: a refresh of a value that memory
  /// does not hold. The flight stays under way.
  @usableFromInline
  @inline(never)
  func lookBehind(
    _ flight: Flight<Value>, since era: UInt64, forKey key: Key, hash: UInt64, accepting demand: Demand
  ) -> LookBehind {
    if let shown = shownByEdits(key) {
      guard let shown else { return .nothing(instead: nil) }
      table.count(hash) { $0.memoryHits += 1 }
      return .loaded(Loaded(value: shown, source: .memory))
    }
    guard let secondTier, let record = secondTier.read(key) else { return .nothing(instead: nil) }
    let interpretation = interpret(record, forKey: key)
    guard case .usable(let found, let rewriting) = interpretation else {
      discard(interpretation, forKey: key, hash: hash, if: .own(flight))
      return .nothing(instead: nil)
    }
    let verdict = demand.verdict(on: found.timing.freshness(at: now()))
    if case .gone = verdict { return .nothing(instead: nil) }
    let isFresh = if case .use(isStale: false, _) = verdict { true } else { false }
    promote(
      found, rewriting: rewriting, forKey: key, hash: hash, if: .beside(flight, era: era), isNeeded: !isFresh)
    switch verdict {
    case .use(let isStale, _):
      table.count(hash) { counters in
        counters.diskHits += 1
        if isStale { counters.staleHits += 1 }
      }
      return .loaded(Loaded(value: found.value, source: .secondTier, isStale: isStale))
    case .fetch(fallsBack: true):
      return .nothing(instead: fallback(found))
    case .fetch, .gone:
      return .nothing(instead: nil)
    }
  }
}
