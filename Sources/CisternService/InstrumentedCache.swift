#if Service
  public import CisternCore

  /// A cache whose loads are measured and traced, and whose failures are logged.
  ///
  /// A hit in memory returns as the cache itself returns it, without a measurement. Each call of a fetch gives a span
  /// `cache.fetch`, in the trace of the caller that leads the flight. A caller that joins gives a span `cache.join` in
  /// its own trace, with a link to the fetch that it waited for. Writes, removals and observations use ``cache``
  /// directly.
  ///
  /// Any task may use the cache. Create one value for each cache, because loads link only to fetches of the same value.
  public final class InstrumentedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The cache itself.
    public let cache: Cache<Key, Value>
    let instrumentation: CacheInstrumentation<Key>
    /// Keeps the log of failures alive.
    private let events: ObservationToken

    /// Instruments a cache.
    ///
    /// - Parameters:
    ///   - cache: The cache.
    ///   - instruments: The back ends of the process.
    public init(_ cache: Cache<Key, Value>, instruments: CacheInstruments) {
      self.cache = cache
      instrumentation = CacheInstrumentation(name: cache.name, instruments: instruments)
      let log = EventLog<Key>(cacheName: instrumentation.name, instruments: instruments)
      events = cache.observeEvents { log.add($0) }
    }

    /// Returns the value of a key, as ``/Cistern/Cache/value(forKey:expiry:tags:policy:fetch:)`` does.
    @inlinable
    @inline(__always)
    public nonisolated(nonsending) func value(
      forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], policy: LoadPolicy? = nil,
      fetch: @escaping @Sendable (Key) async throws -> Value
    ) async throws -> Value {
      if let value = cache.valueInMemory(forKey: key, accepting: policy) { return value }
      return try await tracedValue(forKey: key, expiry: expiry, tags: tags, policy: policy, fetch: fetch).value
    }

    /// Returns the value of a key with its source, as ``/Cistern/Cache/loadedValue(forKey:expiry:tags:policy:fetch:)``
    /// does.
    @inlinable
    public nonisolated(nonsending) func loadedValue(
      forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], policy: LoadPolicy? = nil,
      fetch: @escaping @Sendable (Key) async throws -> Value
    ) async throws -> Loaded<Value> {
      try Task.checkCancellation()
      if let loaded = cache.loadedInMemory(forKey: key, accepting: policy) { return loaded }
      return try await tracedValue(forKey: key, expiry: expiry, tags: tags, policy: policy, fetch: fetch)
    }

    /// Loads a value that memory does not have, or that is due for a refresh.
    @usableFromInline
    nonisolated(nonsending) func tracedValue(
      forKey key: Key, expiry: Expiry?, tags: [String], policy: LoadPolicy?,
      fetch: @escaping @Sendable (Key) async throws -> Value
    ) async throws -> Loaded<Value> {
      let tracer = FetchTracer(instrumentation, key: key)
      let start = instrumentation.startLoad(policy ?? cache.loadPolicy)
      do {
        let loaded = try await cache.loadedValue(forKey: key, expiry: expiry, tags: tags, policy: policy) { key in
          try await tracer.trace { try await fetch(key) }
        }
        finish(loaded, of: key, tracer, since: start)
        return loaded
      } catch {
        fail(error, of: key, tracer, since: start)
        throw error
      }
    }

    /// Returns the value of a key, or nil if the origin has none, as ``/Cistern/Cache/load(_:policy:fetch:)`` does.
    @inlinable
    public nonisolated(nonsending) func load(
      _ key: Key, policy: LoadPolicy? = nil,
      fetch: @escaping @Sendable (FetchContext<Key, Value>) async throws -> FetchOutcome<Value>
    ) async throws -> Loaded<Value>? {
      try Task.checkCancellation()
      if let loaded = cache.loadedInMemory(forKey: key, accepting: policy) { return loaded }
      return try await tracedOutcome(key, policy: policy, fetch: fetch)
    }

    /// Loads the outcome of a fetch for a value that memory does not have, or that is due for a refresh.
    @usableFromInline
    nonisolated(nonsending) func tracedOutcome(
      _ key: Key, policy: LoadPolicy?,
      fetch: @escaping @Sendable (FetchContext<Key, Value>) async throws -> FetchOutcome<Value>
    ) async throws -> Loaded<Value>? {
      let tracer = FetchTracer(instrumentation, key: key)
      let start = instrumentation.startLoad(policy ?? cache.loadPolicy)
      do {
        let loaded = try await cache.load(key, policy: policy) { context in
          try await tracer.trace { try await fetch(context) }
        }
        finish(loaded, of: key, tracer, since: start)
        return loaded
      } catch {
        fail(error, of: key, tracer, since: start)
        throw error
      }
    }

    /// Starts a fetch in the background, as ``/Cistern/Cache/refresh(_:fetch:)`` does. The span of the fetch is in the
    /// caller's trace.
    @discardableResult
    public func refresh(
      _ key: Key, fetch: @escaping @Sendable (FetchContext<Key, Value>) async throws -> FetchOutcome<Value>
    ) -> Bool {
      let tracer = FetchTracer(instrumentation, key: key)
      return cache.refresh(key) { context in try await tracer.trace { try await fetch(context) } }
    }
  }

  // MARK: The ends of a load

  extension InstrumentedCache {
    /// Records the end of a load that has a value, or found that the origin has none.
    private func finish(
      _ loaded: Loaded<Value>?, of key: Key, _ tracer: FetchTracer<Key>,
      since start: CacheInstrumentation<Key>.LoadBeginning
    ) {
      // A load that found no value either fetched or joined.
      let source = loaded?.source ?? (tracer.hasFetched ? .fetched : .joined)
      guard let result = LatencyTimers.LoadResult(source) else { return }
      instrumentation.timers.record(result, from: start.time, to: instrumentation.clock.now())
      if source == .joined { recordJoin(of: key, tracer, since: start) }
    }

    /// Records the end of a load that failed.
    private func fail(
      _ error: any Error, of key: Key, _ tracer: FetchTracer<Key>, since start: CacheInstrumentation<Key>.LoadBeginning
    ) {
      instrumentation.timers.record(
        LatencyTimers.LoadResult(of: error), from: start.time, to: instrumentation.clock.now())
      // A load that may not fetch waits for no other load either.
      if !tracer.hasFetched, (error as? CisternError)?.code != .notCached {
        recordJoin(of: key, tracer, since: start, error: error)
      }
    }

    private func recordJoin(
      of key: Key, _ tracer: FetchTracer<Key>, since start: CacheInstrumentation<Key>.LoadBeginning,
      error: (any Error)? = nil
    ) {
      guard let context = tracer.joinedContext else { return }
      instrumentation.recordJoin(key: key, since: start, links: [context], error: error)
    }
  }
#endif
