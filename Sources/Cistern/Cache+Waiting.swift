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
    } catch {
      let isTimeout = error is PatienceEnded
      if isTimeout { table.count(hash) { $0.timeouts += 1 } }
      if !Task.isCancelled, let instead, !instead.isGone(at: now()) {
        table.count(hash) {
          $0.staleHits += 1
          $0.memoryHits += 1
        }
        return Loaded(value: instead.value, source: .memory, isStale: true)
      }
      throw isTimeout ? timedOut(key) : error
    }
  }

  /// Starts the task that ends the wait in time; nil where the wait has no end.
  private func startPatience(
    of flight: Flight<Value>, waiter: Int, policy: LoadPolicy, instead: Held<Value>?
  ) -> Task<Void, Never>? {
    // With nothing to return instead there is no reason to give up early.
    let patience = instead == nil ? policy.timeout : min(policy.softTimeout, policy.timeout)
    guard patience != .max else { return nil }
    // Who has something else leaves the flight to be stored; who has nothing leaves as one who was cancelled does.
    let keepsFlight = instead != nil && policy.softTimeout <= policy.timeout
    let deadline = clock.now().advanced(by: patience)
    return Task(executorPreference: pilot.taskExecutor) { [clock] in
      guard (try? await clock.sleep(until: deadline)) != nil else { return }
      flight.leave(waiter, with: PatienceEnded(), keepingFlight: keepsFlight)
    }
  }

  /// What a load finds that may not fetch, where memory has nothing for it.
  @usableFromInline
  func cachedOnly(_ key: Key, hash: UInt64, policy: LoadPolicy) throws -> Loaded<Value> {
    if let value = value(forKey: key) { return Loaded(value: value, source: .secondTier) }
    // What the second tier has in grace is in memory now.
    if let value = staleInMemory(key, hash: hash, if: { policy.demand.accepts(staleBy: $0) }) {
      return Loaded(value: value, source: .secondTier, isStale: true)
    }
    throw CisternError(
      .notCached, "neither tier has a value that the policy accepts, and it says not to fetch one",
      location: location(of: key))
  }

  /// What memory has of a key past its lifetime, if its age is accepted. For after a look-up, which counted a miss: this
  /// makes a hit of it.
  func staleInMemory(_ key: Key, hash: UInt64, if accepts: (UInt64) -> Bool) -> Value? {
    guard case .stale(let value, let age) = table.lookUp(key, hash: hash, at: now()), accepts(age) else { return nil }
    table.count(hash) {
      $0.staleHits += 1
      $0.memoryHits += 1
      $0.misses -= 1
    }
    noteUse(ofKey: key, hash: hash)
    return value
  }

  private func timedOut(_ key: Key) -> CisternError {
    CisternError(
      .timedOut, "the fetch took longer than this caller wanted to wait; it may still be stored",
      location: location(of: key))
  }
}

/// Ends a wait that has lasted long enough. Never leaves the cache.
private struct PatienceEnded: Error {}
