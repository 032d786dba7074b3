// Waiting for a flight that may fail or take too long, where something else may be had instead.

extension Cache {
  /// Waits as long as the policy says; then, and where the flight fails, returns the older value while that is in grace.
  @usableFromInline
  nonisolated(nonsending) func waitPatiently(
    for flight: Flight<Value>, as waiter: Int, forKey key: Key, hash: UInt64, policy: LoadPolicy,
    instead: Held<Value>?, source: Loaded<Value>.Source
  ) async throws -> Loaded<Value> {
    let patience = startPatience(of: flight, waiter: waiter, policy: policy, instead: instead)
    defer { patience?.cancel() }
    do {
      let value = try await table.wait(for: flight, as: waiter, hash: hash)
      return Loaded(value: value, source: source)
    } catch let error as LookAgain {
      throw error
    } catch let ended as PatienceEnded<Value> {
      table.count(hash) { $0.timeouts += 1 }
      switch ended {
      case .returningStale(let value): return returned(value, hash: hash)
      case .timedOut:
        if !Task.isCancelled, let instead, !instead.isGone(at: now()) { return returned(instead.value, hash: hash) }
        throw timedOut(key)
      }
    } catch {
      if !Task.isCancelled, let instead, !instead.isGone(at: now()) { return returned(instead.value, hash: hash) }
      throw error
    }
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
  private func startPatience(
    of flight: Flight<Value>, waiter: Int, policy: LoadPolicy, instead: Held<Value>?
  ) -> Task<Void, Never>? {
    // With nothing to return instead there is no reason to give up early.
    let instead = policy.softTimeout <= policy.timeout ? instead : nil
    guard policy.timeout != .max || (instead != nil && policy.softTimeout != .max) else { return nil }
    let start = clock.now()
    return Task(executorPreference: pilot.taskExecutor) { [self] in
      if let instead, policy.softTimeout != .max {
        guard (try? await clock.sleep(until: start.advanced(by: policy.softTimeout))) != nil else { return }
        // Its grace may have ended in the meantime: then there is nothing to return, and the wait goes on. The flight is
        // left to be stored.
        if !instead.isGone(at: now()) {
          return flight.leave(waiter, with: PatienceEnded<Value>.returningStale(instead.value), keepingFlight: true)
        }
      }
      guard policy.timeout != .max,
        (try? await clock.sleep(until: start.advanced(by: policy.timeout))) != nil
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
