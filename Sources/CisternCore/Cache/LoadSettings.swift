/// The part of a cache's configuration that concerns loads.
@usableFromInline
struct LoadSettings: Sendable {
  /// The policy of loads that specify none.
  @usableFromInline let policy: LoadPolicy
  /// The pause in nanoseconds after a failed refresh, during which no other refresh begins.
  @usableFromInline let refreshRetryInterval: UInt64
  @usableFromInline let retry: RetryPolicy?
  @usableFromInline let limiter: FetchLimiter?
  @usableFromInline let circuit: Circuit?
  /// Whether a load may return its stale value after an error; nil for all errors.
  let fallsBack: (@Sendable (any Error) -> Bool)?
  /// Whether a fetch is called directly, without a limit, retries and a circuit breaker.
  @usableFromInline let isPlain: Bool

  init<Key, Value>(_ configuration: CacheConfiguration<Value>, events: EventRegistry<Key>) {
    policy = configuration.loadPolicy
    refreshRetryInterval = configuration.refreshRetryInterval.countedNanoseconds
    retry = configuration.retry
    limiter = configuration.flightLimit.map { FetchLimiter(limit: $0) }
    circuit = configuration.circuitBreaker.map { breaker in
      Circuit(breaker, recording: { events.record(CacheEvent(circuitChange: $0)) }, then: events.deliver)
    }
    fallsBack = configuration.fallsBack
    isPlain = limiter == nil && retry == nil && circuit == nil
  }
}

extension LoadSettings {
  /// Calls a fetch when the limiter grants a permit and the circuit breaker allows the call. Calls it again after a
  /// failure if the retry policy allows this. The pause between two calls holds no permit.
  ///
  /// - Parameters:
  ///   - hash: The hash of the key, which determines the length of the pauses.
  ///   - clock: The clock of the pauses.
  ///   - fetch: The closure that fetches.
  /// - Returns: The result of the fetch.
  /// - Throws: The error of the last call, or of the limiter or the breaker.
  @inlinable
  func fetchWithRetries<Fetched>(
    hash: UInt64, clock: @autoclosure () -> any CacheClock, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    isPlain ? try await fetch() : try await fetchWithPermitAndRetries(hash: hash, clock: clock(), fetch)
  }

  @usableFromInline
  func fetchWithPermitAndRetries<Fetched>(
    hash: UInt64, clock: any CacheClock, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    var attempt = 1
    var failure: (any Error)?
    while true {
      do {
        return try await whenPermitted(by: clock, fetch)
      } catch {
        // The breaker opened after an attempt. The caller learns of the origin's failure, not of the rejection.
        if error is CircuitRejection, let failure { throw failure }
        failure = error
        guard let retry, !Task.isCancelled, retry.retries(error, attempt: attempt),
          // The pause before a call that the breaker rejects would delay the error.
          circuit?.rejection(by: clock) == nil
        else { throw error }
        try await clock.sleep(until: clock.now().advanced(by: retry.delay(afterAttempt: attempt, hash: hash)))
        attempt += 1
      }
    }
  }

  private func whenPermitted<Fetched>(
    by clock: any CacheClock, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    guard let limiter else { return try await whenClosed(by: clock, fetch) }
    // A rejected fetch does not wait for the permits that fetches of a hanging origin hold.
    try circuit?.check(by: clock)
    return try await FetchPermit.withPermit(of: limiter) { try await whenClosed(by: clock, fetch) }
  }

  private func whenClosed<Fetched>(
    by clock: any CacheClock, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    guard let circuit else { return try await fetch() }
    return try await circuit.call(by: clock, fetch)
  }
}
