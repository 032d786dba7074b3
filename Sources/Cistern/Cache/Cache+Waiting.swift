// Waiting for a flight that may fail or take too long, where something else may be had instead.

extension Cache {
  /// How the load waits; nil for one that waits until its flight lands, and gets what that brings.
  ///
  /// - Parameters:
  ///   - instead: the older value that memory has.
  ///   - behind: the older value that the second tier alone has.
  @inlinable
  func patience(
    _ terms: LoadTerms?, era: UInt64, instead: Fallback<Value>?, behind: Fallback<Value>?
  ) -> Patience<Value>? {
    let policy = terms?.policy ?? loading.policy
    guard
      policy.timeout != .max || policy.softTimeout != .max || instead != nil || behind != nil
        || FlightWork.enclosing != nil
    else { return nil }
    return makePatience(terms, era: era, instead: instead, behind: behind)
  }

  @usableFromInline
  @inline(never)
  func makePatience(
    _ terms: LoadTerms?, era: UInt64, instead: Fallback<Value>?, behind: Fallback<Value>?
  ) -> Patience<Value> {
    Patience(
      policy: terms?.policy ?? loading.policy, start: terms?.start ?? clock.now(), era: era,
      instead: (behind ?? instead)?.held,
      source: behind == nil ? .memory : .secondTier)
  }

  /// Waits for a flight; and for further ones where the first brings nothing that this caller may have. The timeouts of the
  /// policy span all of them.
  @usableFromInline
  nonisolated(nonsending) func loadPatiently(
    _ first: Wait<Value>, forKey key: Key, hash: UInt64, on terms: LoadTerms?,
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) async throws -> Loaded<Value> {
    var wait = first
    while true {
      do {
        return try await waitPatiently(wait, forKey: key, hash: hash)
      } catch is LookAgain {
        try Task.checkCancellation()
      }
      let usual = Patience<Value>(
        policy: wait.patience.policy, start: wait.patience.start,
        era: table.newestInvalidation.load(ordering: .acquiring))
      let later = LoadTerms(storing: terms?.storing ?? Storing(), policy: usual.policy, start: usual.start)
      switch try begin(key, hash: hash, on: later, fetch: fetch) {
      case .loaded(let loaded):
        return loaded
      case .waiting(let flight, let waiter, let source, let patience):
        wait = Wait(flight: flight, waiter: waiter, source: source, patience: patience ?? usual)
      }
    }
  }

  /// Waits as long as the policy says; then, and where the flight fails, returns the older value while that is in grace.
  nonisolated(nonsending) func waitPatiently(
    _ wait: Wait<Value>, forKey key: Key, hash: UInt64
  ) async throws -> Loaded<Value> {
    let (flight, patience) = (wait.flight, wait.patience)
    let timer = startTimer(of: wait, forKey: key, hash: hash)
    defer { timer?.cancel() }
    do {
      let value: Value
      if let fetch = patience.fetch {
        value = try await flight.wait(as: wait.waiter, lendingPermitOf: fetch)
      } else {
        value = try await flight.wait(as: wait.waiter)
      }
      if flight.isInvalidated(since: patience.era) || flight.disappoints(patience.policy.demand) { throw LookAgain() }
      return Loaded(value: value, source: wait.source)
    } catch let error as LookAgain {
      throw error
    } catch is LoadCycle {
      throw LoadCycle.error(location: location(of: key))
    } catch let ended as PatienceEnded<Value> {
      table.count(hash) { $0.timeouts += 1 }
      switch ended {
      case .returningStale(let value): return returned(value, from: patience.source, hash: hash)
      case .timedOut:
        if let value = usable(patience.instead) { return returned(value, from: patience.source, hash: hash) }
        throw timedOut(key)
      }
    } catch {
      if let value = usable(patience.instead) {
        reportFailedRefresh(ofKey: key, error)
        return returned(value, from: patience.source, hash: hash)
      }
      throw error
    }
  }

  /// The older value, while it is in grace; nothing for one who has been cancelled.
  private func usable(_ instead: Held<Value>?) -> Value? {
    guard let instead, !Task.isCancelled, !instead.isGone(at: now()) else { return nil }
    return instead.value
  }

  /// The older value, which the look-up did not count as a hit.
  private func returned(_ value: Value, from source: Loaded<Value>.Source, hash: UInt64) -> Loaded<Value> {
    table.count(hash) { counters in
      counters.staleHits += 1
      if case .memory = source { counters.memoryHits += 1 } else { counters.diskHits += 1 }
    }
    return Loaded(value: value, source: source, isStale: true)
  }

  /// Starts the task that ends the wait in time; nil where the wait has no end.
  private func startTimer(of wait: Wait<Value>, forKey key: Key, hash: UInt64) -> Task<Void, Never>? {
    let (flight, waiter, start) = (wait.flight, wait.waiter, wait.patience.start)
    let (softTimeout, timeout) = (wait.patience.policy.softTimeout, wait.patience.policy.timeout)
    // With nothing to return instead there is no reason to give up early.
    let instead = softTimeout <= timeout ? wait.patience.instead : nil
    guard timeout != .max || (instead != nil && softTimeout != .max) else { return nil }
    return Task(executorPreference: pilot.taskExecutor) { [self] in
      if let instead, softTimeout != .max {
        guard (try? await clock.sleep(until: start.advanced(by: softTimeout))) != nil else { return }
        // Its grace may have ended in the meantime: then there is nothing to return, and the wait goes on. The flight is
        // left to be stored.
        if !instead.isGone(at: now()) {
          flight.leave(waiter, with: PatienceEnded<Value>.returningStale(instead.value), keepingFlight: true)
          return
        }
      }
      guard timeout != .max,
        (try? await clock.sleep(until: start.advanced(by: timeout))) != nil
      else { return }
      // An origin that hangs is as one that fails. First: a caller that looks again must find the pause.
      table.postponeRefresh(by: flight, forKey: key, hash: hash, pause: retryPause())
      // Who has nothing leaves as one who was cancelled does.
      flight.leave(waiter, with: PatienceEnded<Value>.timedOut)
    }
  }

  /// What a load finds that may not fetch, where memory has nothing for it.
  @usableFromInline
  func cachedOnly(_ key: Key, hash: UInt64, policy: LoadPolicy) throws(CisternError) -> Loaded<Value> {
    if let value = value(forKey: key) { return Loaded(value: value, source: .secondTier) }
    if let value = staleValue(ofKey: key, hash: hash, if: { policy.demand.accepts(staleBy: $0) }) {
      return Loaded(value: value, source: .secondTier, isStale: true)
    }
    throw CisternError(
      .notCached, "neither tier has a value that the policy accepts, and it says not to fetch one",
      location: location(of: key))
  }

  /// What either tier has of a key past its lifetime, if its age is accepted. For after a look-up, which counted a miss:
  /// this makes a hit of it.
  func staleValue(ofKey key: Key, hash: UInt64, if accepts: (UInt64) -> Bool) -> Value? {
    switch table.lookUp(key, hash: hash, at: now()) {
    case .stale(let value, let age):
      guard accepts(age) else { return nil }
      table.count(hash) {
        $0.staleHits += 1
        $0.memoryHits += 1
        $0.misses -= 1
      }
      noteUse(ofKey: key, hash: hash)
      return value
    case .absent:
      // The look-up brought it into memory, unless memory would not have it.
      guard let value = staleBehindMemory(key, if: accepts) else { return nil }
      table.count(hash) {
        $0.staleHits += 1
        $0.diskHits += 1
        $0.misses -= 1
      }
      return value
    case .hit, .hitToNote, .expired:
      return nil
    }
  }

  private func staleBehindMemory(_ key: Key, if accepts: (UInt64) -> Bool) -> Value? {
    guard case nil = shownByEdits(key), let record = secondTier?.read(key),
      case .usable(let found, _) = interpret(record, forKey: key),
      case .stale(let age, _) = found.timing.freshness(at: clock.now()), accepts(age)
    else { return nil }
    return found.value
  }

  private func timedOut(_ key: Key) -> CisternError {
    CisternError(
      .timedOut, "the fetch took longer than this caller wanted to wait; it may still be stored",
      location: location(of: key))
  }
}

/// Ends a wait that has lasted long enough. Never leaves the cache.
private enum PatienceEnded<Value: Sendable>: Error {
  /// At the soft timeout, with what was in grace then.
  case returningStale(Value)
  case timedOut
}
