// Waiting for a flight with limits: it may fail or take too long, and there may be an older value to return.

extension Loader {
  /// Returns the beginning of a wait for a flight.
  @inlinable
  @inline(__always)
  func wait(
    for flight: Flight<Value>, as waiter: Int, _ source: Loaded<Value>.Source, _ waitLimits: WaitLimits<Value>?,
    _ request: @autoclosure () -> Request
  ) -> LoadStart {
    guard let waitLimits else { return .waiting(flight, waiter: waiter, source) }
    let wait = Wait(flight: flight, waiter: waiter, source: source, waitLimits: waitLimits)
    return .waitingWithLimits(LimitedLoad(request(), wait))
  }

  /// Returns the limits of a wait.
  ///
  /// - Parameters:
  ///   - options: The options of the load.
  ///   - invalidationVersion: The invalidation version when the load began.
  ///   - fallback: The older value that memory has.
  ///   - secondTierFallback: The older value that the second tier alone has.
  ///   - lendsPermit: Whether the wait must lend the permit of a fetch that encloses it. Asked last, because it costs
  ///     most.
  /// - Returns: The limits; nil for a load that waits until its flight completes and gets the outcome.
  @inlinable
  func waitLimits(
    _ options: LoadOptions?, invalidationVersion: InvalidationVersion, fallback: Fallback<Value>?,
    secondTierFallback: Fallback<Value>?, lendsPermit: @autoclosure () -> Bool = WorkIdentity.enclosing != nil
  ) -> WaitLimits<Value>? {
    let policy = options?.policy ?? settings.policy
    guard
      policy.timeout != .max || policy.softTimeout != .max || fallback != nil || secondTierFallback != nil
        || lendsPermit()
    else { return nil }
    return makeWaitLimits(
      options, invalidationVersion: invalidationVersion, fallback: fallback, secondTierFallback: secondTierFallback)
  }

  @usableFromInline
  @inline(never)
  func makeWaitLimits(
    _ options: LoadOptions?, invalidationVersion: InvalidationVersion, fallback: Fallback<Value>?,
    secondTierFallback: Fallback<Value>?
  ) -> WaitLimits<Value> {
    WaitLimits(
      policy: options?.policy ?? settings.policy, start: options?.start ?? lifetimes.clock.now(),
      invalidationVersion: invalidationVersion, fallback: secondTierFallback ?? fallback)
  }

  /// Waits for a flight, and for further ones if the first brings no result that this caller may have.
  ///
  /// The timeouts of the policy span all of them.
  ///
  /// - Parameter load: The load.
  /// - Returns: The value.
  /// - Throws: The error of the flight, `CancellationError`, and `CisternError` at the timeout.
  @usableFromInline
  @inline(never)
  nonisolated(nonsending) func waitWithLimits(_ load: LimitedLoad<Key, Value>) async throws -> Loaded<Value> {
    let request = load.request
    var wait = load.wait
    while true {
      if let loaded = try await waitOnce(wait, of: request.key, for: request.options) { return loaded }
      try Task.checkCancellation()
      let usual = WaitLimits<Value>(
        policy: wait.waitLimits.policy, start: wait.waitLimits.start,
        invalidationVersion: table.newestInvalidation.load(ordering: .acquiring))
      let options = request.optionsOfNextAttempt(usual.policy, start: usual.start)
      switch try begin(request.key, options, owner: request.owner, request.fetch) {
      case .loaded(let loaded):
        return loaded
      case .waiting(let flight, let waiter, let source):
        wait = Wait(flight: flight, waiter: waiter, source: source, waitLimits: usual)
      case .waitingWithLimits(let load):
        wait = load.wait
      }
    }
  }

  /// Waits as long as the policy says.
  ///
  /// - Returns: The value of the flight. After the end of the time, or if the flight fails, the older value while that
  ///   is in grace. Nil if the caller must look again.
  /// - Throws: As ``conclude(_:of:for:_:)``.
  @usableFromInline
  nonisolated(nonsending) func waitOnce(
    _ wait: Wait<Value>, of key: HashedKey<Key>, for options: LoadOptions?
  ) async throws -> Loaded<Value>? {
    let outcome: FlightOutcome<Value>
    if let ended = endIfOver(wait, for: key) {
      outcome = ended
    } else {
      let timer = startTimer(of: [KeyedWait(wait, key)])
      defer { timer?.cancel() }
      outcome =
        if let fetch = wait.waitLimits.fetch {
          await wait.flight.wait(as: wait.waiter, lendingPermitOf: fetch)
        } else {
          await wait.flight.wait(as: wait.waiter)
        }
    }
    return try conclude(outcome, of: wait, for: key, options)
  }

  /// Returns the result of a wait with limits.
  ///
  /// - Returns: The value of the flight. After the end of the time, or if the flight failed, the older value while that
  ///   is in grace. Nil if the caller must look again.
  /// - Throws: The error of the flight, and `CisternError` at the timeout.
  @usableFromInline
  func conclude(
    _ outcome: FlightOutcome<Value>, of wait: Wait<Value>, for key: HashedKey<Key>, _ options: LoadOptions?
  ) throws -> Loaded<Value>? {
    let waitLimits = wait.waitLimits
    switch outcome {
    case .timedOut(let stale):
      table.count(key.hash) { $0.timeouts += 1 }
      events.send(CacheEvent(.timedOut, key.key))
      if let stale { return loaded(stale, of: wait, key) }
      guard let loaded = valueWithoutFetch(of: wait, key) else { throw timedOut(key) }
      return loaded
    case .failed(let error) where error is LoadCycle:
      throw LoadCycle.error(location: reports.location(of: key.key))
    case .failed(let error):
      guard let older = fallbackAfterFailure(of: wait, key), fallsBack(after: error) else { throw error }
      noteFailedRefresh(of: key.key, error)
      return loaded(older, of: wait, key)
    case .value, .early, .absent, .lookAgain:
      let result = FlightResult(
        outcome, of: wait.flight, from: wait.source, since: waitLimits.invalidationVersion)
      return try use(result, of: key, for: options)
    }
  }

  /// Whether a caller with an older value gets it instead of this error.
  func fallsBack(after error: any Error) -> Bool {
    guard let fallsBack = settings.fallsBack, !CircuitRejection.isCause(of: error) else { return true }
    return fallsBack(error)
  }

  /// Returns the older value, which the look-up did not count as a hit.
  private func loaded(_ older: Fallback<Value>, of wait: Wait<Value>, _ key: HashedKey<Key>) -> Loaded<Value> {
    // The value of unconfirmed edits is fresh.
    if case .shows(let shown?) = records.loadedFromEdits(key, afterMiss: wait.countedMiss) { return shown }
    let source: Loaded<Value>.Source = older.isFromSecondTier ? .secondTier : .memory
    noteLateHit(of: wait, key, from: source, isStale: true)
    return records.described(older.held.value, older.held.timing, from: source, isStale: true)
  }

  /// Counts the hit of a load that gets a cached value after its wait, and notes the use.
  func noteLateHit(of wait: Wait<Value>, _ key: HashedKey<Key>, from source: Loaded<Value>.Source, isStale: Bool) {
    table.count(key.hash) { counters in
      if isStale { counters.staleHits += 1 }
      if case .memory = source { counters.memoryHits += 1 } else { counters.diskHits += 1 }
      if wait.countedMiss { counters.lateHits += 1 }
    }
    records.noteUse(of: key)
  }

  private func timedOut(_ key: HashedKey<Key>) -> CisternError {
    CisternError(
      .timedOut, "the fetch took longer than this caller wanted to wait; it may still be stored",
      location: reports.location(of: key.key))
  }
}
