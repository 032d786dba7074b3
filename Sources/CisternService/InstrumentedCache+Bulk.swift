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
      return try await joining(keys, as: tracer) {
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
      return try await joining(keys, as: tracer) {
        try await cache.load(keys: keys, policy: policy) { contexts in
          try await tracer.trace(keys: contexts.map(\.key)) { try await fetch(contexts) }
        }
      }
    }

    /// Runs a bulk load, and links it to the fetches of other loads that it waited for.
    private nonisolated(nonsending) func joining(
      _ keys: Set<Key>, as tracer: FetchTracer<Key>, _ load: () async throws -> LoadedValues<Key, Value>
    ) async throws -> LoadedValues<Key, Value> {
      let start = instrumentation.startLoad()
      let records = joinableRecords(of: keys)
      do {
        let loaded = try await load()
        instrumentation.recordJoin(key: nil, since: start, links: tracer.links(to: records))
        return loaded
      } catch {
        instrumentation.recordJoin(key: nil, since: start, links: tracer.links(to: records), error: error)
        throw error
      }
    }

    /// Returns the records of the fetches in progress that a bulk load may join.
    private func joinableRecords(of keys: Set<Key>) -> [FetchRecord] {
      guard instrumentation.records.count > 0 else { return [] }
      // A load does not wait for the refresh of a value that it has.
      return instrumentation.records.currentRecords(of: keys.filter { !cache.isInMemory($0) }, limit: 32)
    }
  }

  extension FetchTracer {
    /// Returns the spans of other loads' fetches. A bulk fetch has several records, and gives one link.
    fileprivate func links(to records: [FetchRecord]) -> [ServiceContext] {
      var leaders: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
      return records.compactMap { record in
        guard let span = record.span, leaders.insert(span.leader).inserted else { return nil }
        return span.context
      }
    }
  }
#endif
