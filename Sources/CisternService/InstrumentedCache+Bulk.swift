#if Service
  public import CisternCore
  import Tracing

  extension InstrumentedCache {
    /// Returns the values of several keys, as ``/Cistern/Cache/values(forKeys:expiry:tags:policy:fetch:)`` does.
    ///
    /// Each call of `fetch` gives one span. If other loads already fetch some of the keys, the load links to their
    /// fetches, to at most 32 of them.
    public nonisolated(nonsending) func values(
      forKeys keys: some Sequence<Key>, expiry: Expiry? = nil, tags: [String] = [], policy: LoadPolicy? = nil,
      fetch: @escaping @Sendable ([Key]) async throws -> [Key: Value]
    ) async throws -> LoadedValues<Key, Value> {
      let keys = Set(keys)
      let tracer = FetchTracer(instrumentation, key: nil)
      return try await joining(keys, policy, as: tracer) {
        try await cache.values(forKeys: keys, expiry: expiry, tags: tags, policy: policy) { missing in
          try await tracer.trace(keys: missing) { try await fetch(missing) }
        }
      }
    }

    /// Returns the values of several keys, as ``/Cistern/Cache/load(keys:policy:fetch:)`` does, with spans as
    /// ``values(forKeys:expiry:tags:policy:fetch:)``.
    public nonisolated(nonsending) func load(
      keys: some Sequence<Key>, policy: LoadPolicy? = nil,
      fetch: @escaping @Sendable ([FetchContext<Key, Value>]) async throws -> [Key: FetchOutcome<Value>]
    ) async throws -> LoadedValues<Key, Value> {
      let keys = Set(keys)
      let tracer = FetchTracer(instrumentation, key: nil)
      return try await joining(keys, policy, as: tracer) {
        try await cache.load(keys: keys, policy: policy) { contexts in
          try await tracer.trace(keys: contexts.map(\.key)) { try await fetch(contexts) }
        }
      }
    }

    /// Runs a bulk load, and links it to the fetches of other loads that it waited for.
    private nonisolated(nonsending) func joining(
      _ keys: Set<Key>, _ policy: LoadPolicy?, as tracer: FetchTracer<Key>,
      _ load: () async throws -> LoadedValues<Key, Value>
    ) async throws -> LoadedValues<Key, Value> {
      let start = instrumentation.startLoad(policy ?? cache.loadPolicy)
      let records = joinableRecords(of: keys)
      do {
        let loaded = try await load()
        let joined = tracer.otherFetches(records).filter { loaded.hasResult(of: $0) }
        recordJoin(joined, since: start, error: joined.lazy.compactMap { loaded.failures[$0.key] }.first)
        return loaded
      } catch {
        recordJoin(tracer.otherFetches(records), since: start, error: error)
        throw error
      }
    }

    /// Returns the records of the fetches in progress that a bulk load may join.
    private func joinableRecords(of keys: Set<Key>) -> [FetchRecords<Key>.KeyedRecord] {
      guard instrumentation.records.count > 0 else { return [] }
      // A load does not wait for the refresh of a value that it has.
      return instrumentation.records.currentRecords(of: keys.filter { !cache.isInMemory($0) })
    }

    private func recordJoin(
      _ joined: [FetchTracer<Key>.KeyedSpan], since start: CacheInstrumentation<Key>.LoadBeginning,
      error: (any Error)?
    ) {
      // A bulk fetch has several keys, and gives one link.
      var leaders: Set<ObjectIdentifier> = []
      let links = joined.filter { leaders.insert($0.span.leader).inserted }.prefix(32).map(\.span.context)
      instrumentation.recordJoin(key: nil, since: start, links: links, error: error)
    }
  }

  extension LoadedValues {
    /// Returns whether the load got the value or the error of a key from a fetch of another load.
    ///
    /// A load can have a value of the second tier although a fetch of its key is in progress.
    fileprivate func hasResult(of fetch: FetchTracer<Key>.KeyedSpan) -> Bool {
      if let details = details[fetch.key] { return details.source == .joined }
      return !fetch.span.isRunning || (failures[fetch.key] as? CisternError)?.code == .timedOut
    }
  }
#endif
