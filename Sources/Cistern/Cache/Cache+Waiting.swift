// Waiting for a flight that may fail or take too long, where something else may be had instead.

extension Cache {
  /// Waits as long as the policy says; then, and where the flight fails, returns the older value while that is in grace.
  @usableFromInline
  nonisolated(nonsending) func waitPatiently(
    for flight: Flight<Value>, as waiter: Int, forKey key: Key, hash: UInt64, patience: Patience<Value>,
    source: Loaded<Value>.Source
  ) async throws -> Loaded<Value> {
    let timer = startTimer(of: patience, for: flight, waiter: waiter)
    defer { timer?.cancel() }
    do {
      let value = try await flight.wait(as: waiter)
      return Loaded(value: value, source: source)
    } catch let error as LookAgain {
      throw error
    } catch let ended as PatienceEnded<Value> {
      table.count(hash) { $0.timeouts += 1 }
      switch ended {
      case .returningStale(let value): return returned(value, hash: hash)
      case .timedOut:
        if let value = usable(patience.instead) { return returned(value, hash: hash) }
        throw timedOut(key)
      }
    } catch {
      if let value = usable(patience.instead) { return returned(value, hash: hash) }
      throw error
    }
  }

  /// The older value, while it is in grace; nothing for one who has been cancelled.
  private func usable(_ instead: Held<Value>?) -> Value? {
    guard let instead, !Task.isCancelled, !instead.isGone(at: now()) else { return nil }
    return instead.value
  }

  /// The older value, which the look-up did not count as a hit.
  private func returned(_ value: Value, hash: UInt64) -> Loaded<Value> {
    table.count(hash) {
      $0.staleHits += 1
      $0.memoryHits += 1
    }
    return Loaded(value: value, source: .memory, isStale: true)
  }

  /// Starts the task that ends the wait in time; nil where the wait has no end.
  private func startTimer(of patience: Patience<Value>, for flight: Flight<Value>, waiter: Int) -> Task<Void, Never>? {
    let (softTimeout, timeout) = (patience.softTimeout, patience.timeout)
    // With nothing to return instead there is no reason to give up early.
    let instead = softTimeout <= timeout ? patience.instead : nil
    guard timeout != .max || (instead != nil && softTimeout != .max) else { return nil }
    let start = clock.now()
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
      // Who has nothing leaves as one who was cancelled does.
      flight.leave(waiter, with: PatienceEnded<Value>.timedOut)
    }
  }

  /// What a load finds that may not fetch, where memory has nothing for it.
  @usableFromInline
  func cachedOnly(_ key: Key, hash: UInt64, policy: LoadPolicy) throws -> Loaded<Value> {
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
