// The fetch of a bulk load, and its results.

/// A load of several keys.
@usableFromInline
struct BulkRequest<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The closure that fetches, in one of two forms.
  @usableFromInline
  enum Fetch: Sendable {
    /// It receives the keys and returns their values.
    case plain(@Sendable ([Key]) async throws -> [Key: Value])
    /// It receives contexts and returns outcomes.
    case withContexts(@Sendable ([FetchContext<Key, Value>]) async throws -> [Key: FetchOutcome<Value>])
  }

  @usableFromInline let options: LoadOptions
  @usableFromInline let policy: LoadPolicy
  /// The cache. The flights keep it open until their values are published.
  @usableFromInline let owner: any AnyObject & Sendable
  @usableFromInline let fetch: Fetch

  /// - Parameters:
  ///   - fetch: The closure that fetches.
  ///   - writeOptions: The options of the stored values.
  ///   - policy: The values that the load accepts, and how long it waits.
  ///   - start: The time from which timeouts count.
  ///   - owner: The cache.
  @inlinable
  init(
    _ fetch: Fetch, _ writeOptions: WriteOptions = WriteOptions(), policy: LoadPolicy, start: MonotonicTime,
    owner: any AnyObject & Sendable
  ) {
    self.fetch = fetch
    self.owner = owner
    self.policy = policy
    var describes = false
    if case .withContexts = fetch { describes = true }
    options = LoadOptions(writeOptions: writeOptions, policy: policy, start: start, describes: describes)
  }
}

/// A key that a bulk load fetches, with its flight.
@usableFromInline
struct BulkFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let key: HashedKey<Key>
  @usableFromInline let flight: Flight<Value>

  @inlinable
  init(key: HashedKey<Key>, flight: Flight<Value>) {
    self.key = key
    self.flight = flight
  }
}

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
    work.runInBulk(task) { for one in led { one.flight.abandonIfUnattended() } }
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
        var number = 0
        let outcomes = try await attempt(led, by: work) { () async throws -> [Key: FetchOutcome<Value>] in
          number += 1
          return try await fetch(contexts.map { FetchContext($0, attempt: number) })
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
      try await settings.attempt(hash: led[0].key.hash, clock: lifetimes.clock, fetch)
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
