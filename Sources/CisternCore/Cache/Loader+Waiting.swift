// Waiting for a flight with limits: it may fail or take too long, and there may be an older value to return.

extension Loader {
  /// Returns the limits of a wait; nil for a load that waits until its flight completes and gets the outcome.
  ///
  /// - Parameters:
  ///   - instead: the older value that memory has.
  ///   - secondTierValue: the older value that the second tier alone has.
  @inlinable
  func waitLimits(
    _ options: LoadOptions?, invalidationVersion: InvalidationVersion, instead: Fallback<Value>?,
    secondTierValue: Fallback<Value>?
  ) -> WaitLimits<Value>? {
    let policy = options?.policy ?? settings.policy
    guard
      policy.timeout != .max || policy.softTimeout != .max || instead != nil || secondTierValue != nil
        || WorkIdentity.enclosing != nil
    else { return nil }
    return makeWaitLimits(
      options, invalidationVersion: invalidationVersion, instead: instead, secondTierValue: secondTierValue)
  }

  @usableFromInline
  @inline(never)
  func makeWaitLimits(
    _ options: LoadOptions?, invalidationVersion: InvalidationVersion, instead: Fallback<Value>?,
    secondTierValue: Fallback<Value>?
  ) -> WaitLimits<Value> {
    WaitLimits(
      policy: options?.policy ?? settings.policy, start: options?.start ?? lifetimes.clock.now(),
      invalidationVersion: invalidationVersion,
      instead: (secondTierValue ?? instead)?.held, source: secondTierValue == nil ? .memory : .secondTier)
  }

  /// Waits for a flight, and for further ones if the first brings nothing that this caller may have. The timeouts of the policy span
  /// all of them.
  @usableFromInline
  nonisolated(nonsending) func load(
    _ request: Request, beginningWith first: Wait<Value>
  ) async throws -> Loaded<Value> {
    var wait = first
    while true {
      if let loaded = try await finish(wait, of: request.key, for: request.options) { return loaded }
      try Task.checkCancellation()
      let usual = WaitLimits<Value>(
        policy: wait.waitLimits.policy, start: wait.waitLimits.start,
        invalidationVersion: table.newestInvalidation.load(ordering: .acquiring))
      switch try begin(request.continued(usual.policy, start: usual.start)) {
      case .loaded(let loaded):
        return loaded
      case .waiting(let flight, let waiter, let source, let waitLimits):
        wait = Wait(flight: flight, waiter: waiter, source: source, waitLimits: waitLimits ?? usual)
      }
    }
  }

  /// Waits as long as the policy says. After that, or if the flight fails, returns the older value while that is in grace. Returns nil
  /// if the caller must look again.
  @usableFromInline
  nonisolated(nonsending) func finish(
    _ wait: Wait<Value>, of key: HashedKey<Key>, for options: LoadOptions?
  ) async throws -> Loaded<Value>? {
    let (flight, waitLimits) = (wait.flight, wait.waitLimits)
    let outcome: FlightOutcome<Value>
    if let ended = endIfOver(wait, for: key) {
      outcome = ended
    } else {
      let timer = startTimer(of: wait, for: key)
      defer { timer?.cancel() }
      outcome =
        if let fetch = waitLimits.fetch {
          await flight.wait(as: wait.waiter, lendingPermitOf: fetch)
        } else {
          await flight.wait(as: wait.waiter)
        }
    }
    switch outcome {
    case .value(let value):
      if flight.isInvalidated(since: waitLimits.invalidationVersion) || flight.doesNotSatisfy(waitLimits.policy.demand)
      {
        return nil
      }
      return loaded(value, from: wait.source, by: flight, for: options)
    case .early(let value):
      guard isCurrent(flight, of: key, since: waitLimits.invalidationVersion) else { return nil }
      return Loaded(value: value, source: wait.source)
    case .absent:
      if flight.isInvalidated(since: waitLimits.invalidationVersion) { return nil }
      throw AbsentValue()
    case .lookAgain:
      return nil
    case .timedOut(let stale):
      table.count(key.hash) { $0.timeouts += 1 }
      events.send(CacheEvent(.timedOut, key.key))
      if let value = stale ?? usable(waitLimits.instead) { return olderValue(value, of: wait, key) }
      throw timedOut(key)
    case .failed(let error) where error is LoadCycle:
      throw LoadCycle.error(location: reports.location(of: key.key))
    case .failed(let error):
      guard let value = usable(waitLimits.instead), fallsBack(after: error) else { throw error }
      noteFailedRefresh(of: key.key, error)
      return olderValue(value, of: wait, key)
    }
  }

  /// Returns the older value while it is in grace; nil for a cancelled caller.
  private func usable(_ instead: CachedValue<Value>?) -> Value? {
    guard let instead, !Task.isCancelled, instead.canReplaceFetch(at: lifetimes.now()) else { return nil }
    return instead.value
  }

  /// Whether a caller with an older value gets it instead of this error.
  private func fallsBack(after error: any Error) -> Bool {
    guard let fallsBack = settings.fallsBack, !CircuitRejection.isCause(of: error) else { return true }
    return fallsBack(error)
  }

  /// Returns the older value, which the look-up did not count as a hit.
  private func olderValue(_ value: Value, of wait: Wait<Value>, _ key: HashedKey<Key>) -> Loaded<Value> {
    let source = wait.waitLimits.source
    table.count(key.hash) { counters in
      counters.staleHits += 1
      if case .memory = source { counters.memoryHits += 1 } else { counters.diskHits += 1 }
    }
    guard let timing = wait.waitLimits.instead?.timing else {
      return Loaded(value: value, source: source, isStale: true)
    }
    return records.described(value, timing, from: source, isStale: true)
  }

  /// Starts the task that ends the wait in time. Returns nil for a wait without an end.
  private func startTimer(of wait: Wait<Value>, for key: HashedKey<Key>) -> Task<Void, Never>? {
    let (softDeadline, deadline) = (wait.waitLimits.softDeadline, wait.waitLimits.deadline)
    if case (nil, nil) = (softDeadline, deadline) { return nil }
    return Task(executorPreference: flightOptions.taskExecutor) { [self] in
      let clock = lifetimes.clock
      if let softDeadline {
        guard (try? await clock.sleep(until: softDeadline)) != nil else { return }
        if case .some = endSoftly(wait) { return }
      }
      guard let deadline,
        (try? await clock.sleep(until: deadline)) != nil
      else { return }
      _ = end(wait, for: key)
    }
  }

  /// Ends a wait whose time is up before it begins. Returns nil if there is time to wait.
  ///
  /// The caller does not get the outcome of a flight that has completed: that would depend on the speed of the fetch.
  private func endIfOver(_ wait: Wait<Value>, for key: HashedKey<Key>) -> FlightOutcome<Value>? {
    let (softDeadline, deadline) = (wait.waitLimits.softDeadline, wait.waitLimits.deadline)
    if case (nil, nil) = (softDeadline, deadline) { return nil }
    let now = lifetimes.clock.now()
    var outcome: FlightOutcome<Value>?
    if let softDeadline, softDeadline <= now { outcome = endSoftly(wait) }
    if case nil = outcome, let deadline, deadline <= now { outcome = end(wait, for: key) }
    if case .some = outcome { wait.flight.withdraw(wait.waiter) }
    return outcome
  }

  /// Ends a wait at its soft timeout: the caller leaves with the older value. The flight continues, so that its value is stored.
  /// Returns nil after the end of the older value's grace: the wait continues.
  private func endSoftly(_ wait: Wait<Value>) -> FlightOutcome<Value>? {
    guard let instead = wait.waitLimits.instead, instead.canReplaceFetch(at: lifetimes.now()) else { return nil }
    let outcome = FlightOutcome<Value>.timedOut(stale: instead.value)
    wait.flight.leave(wait.waiter, with: outcome, keepingFlight: true)
    return outcome
  }

  /// Ends a wait at its timeout.
  private func end(_ wait: Wait<Value>, for key: HashedKey<Key>) -> FlightOutcome<Value> {
    // An origin that hangs counts as one that fails. First: a caller that looks again must find the pause.
    table.postponeRefresh(by: wait.flight, forKey: key.key, hash: key.hash, pause: retryPause())
    let outcome = FlightOutcome<Value>.timedOut(stale: nil)
    // A caller without an older value leaves the flight as a cancelled one does.
    wait.flight.leave(wait.waiter, with: outcome)
    return outcome
  }

  private func timedOut(_ key: HashedKey<Key>) -> CisternError {
    CisternError(
      .timedOut, "the fetch took longer than this caller wanted to wait; it may still be stored",
      location: reports.location(of: key.key))
  }
}
