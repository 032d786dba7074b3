// The fetch of a bulk load, and its results.

extension Loader {
  /// Starts the task that fetches the keys.
  @inlinable
  func start(
    _ led: [BulkFlight<Key, Value>], for request: BulkRequest<Key, Value>, priority: TaskPriority, work: FlightWork
  ) {
    if led.isEmpty { return }
    for one in led { noteFetch(by: one.flight) }
    let task = Task<Void, any Error>(executorPreference: flightOptions.taskExecutor, priority: priority) { [self] in
      if !work.isCancelled { await run(led, for: request, by: work) }
      work.end()
    }
    work.attachBulk(task) { for one in led { one.flight.abandonIfUnattended() } }
  }

  /// Fetches all keys with one call. Then publishes each key, or ends its flight as missing or failed, independently of
  /// the other keys.
  @inlinable
  func run(
    _ led: [BulkFlight<Key, Value>], for request: BulkRequest<Key, Value>, by work: FlightWork
  ) async {
    do {
      switch request.fetch {
      case .plain(let fetch):
        let bases = led.map { mergeBase(of: $0.flight, for: $0.key) }
        defer { for base in bases { base?.end() } }
        let keys = led.map(\.key.key)
        let values = try await attempt(led, by: work) { () async throws -> [Key: Value] in try await fetch(keys) }
        for (one, base) in zip(led, bases) {
          await complete(one, with: values[one.key.key]) { value in
            let fetched = FetchedValue(value, of: one.flight, for: one.key, options: request.options)
            one.flight.complete(.value(try await publish(fetched, since: base)))
          }
        }
      case .withContexts(let fetch):
        let bases = led.map { contextBase(of: $0.flight, for: $0.key) }
        defer { for base in bases { base?.end() } }
        let contexts = zip(led, bases).map { contextFlight($0.flight, of: $0.key, since: $1) }
        let outcomes: [Key: FetchOutcome<Value>]
        do {
          defer { for context in contexts { context.noteEndOfFetch() } }
          var number = 0
          outcomes = try await attempt(led, by: work) { () async throws -> [Key: FetchOutcome<Value>] in
            number += 1
            return try await fetch(contexts.map { FetchContext($0, attempt: number) })
          }
        }
        for (index, one) in led.enumerated() {
          await complete(one, with: outcomes[one.key.key]) { outcome in
            try await complete(contexts[index], with: outcome, of: one.key, since: bases[index])
          }
        }
      }
    } catch {
      for one in led { fail(one.flight, of: one.key, .failed(error)) }
    }
  }

  /// Fetches, with a permit and with the retries of the cache. The pauses between attempts are those of the first key.
  @inlinable
  func attempt<Fetched>(
    _ led: [BulkFlight<Key, Value>], by work: FlightWork, _ fetch: () async throws -> Fetched
  ) async throws -> Fetched {
    try await work.identity.fetching {
      try await settings.fetchWithRetries(hash: led[0].key.hash, clock: lifetimes.clock, fetch)
    }
  }

  /// Completes the flight of one key. A key without a result is missing: waiters that joined the flight look again.
  @inlinable
  func complete<Fetched>(
    _ one: BulkFlight<Key, Value>, with fetched: Fetched?, _ publish: (Fetched) async throws -> Void
  ) async {
    guard let fetched else { return fail(one.flight, of: one.key, .lookAgain) }
    do {
      try await publish(fetched)
    } catch {
      fail(one.flight, of: one.key, .failed(error))
    }
  }
}
