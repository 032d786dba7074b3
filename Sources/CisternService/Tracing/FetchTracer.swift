#if Service
  import CisternCore
  import Locking
  import Tracing

  /// The part of a load that its fetch closure holds: measures and traces each call of the closure.
  ///
  /// The record ends when both the flight and its leading caller have released the tracer. A load that begins in
  /// between can link to the ended fetch.
  final class FetchTracer<Key: Hashable & Sendable>: Sendable {
    private let instrumentation: CacheInstrumentation<Key>
    /// The key of the load; nil for a load of several keys, which learns its keys when it fetches.
    private let key: Key?
    private let state: Guarded<State>

    private struct State: Sendable {
      var record: FetchRecord?
      var hasFetched = false
      /// The keys of each call of a bulk fetch.
      var bulkCalls: [[Key]] = []
    }

    init(_ instrumentation: CacheInstrumentation<Key>, key: Key?) {
      self.instrumentation = instrumentation
      self.key = key
      state = Guarded(State(record: key.map { instrumentation.records.hold($0) }))
    }

    deinit {
      let (record, hasFetched) = state.withLock { ($0.record, $0.hasFetched) }
      guard let key, let record else { return }
      if hasFetched {
        instrumentation.records.end(record, of: key)
      } else {
        instrumentation.records.release(record, of: key)
      }
    }

    /// Whether the fetch was called: the load leads a flight.
    var hasFetched: Bool { state.withLock { $0.hasFetched } }

    typealias KeyedSpan = (key: Key, span: FetchRecord.FetchSpan)

    /// Returns the spans of the fetches that other loads called, for a load of several keys.
    ///
    /// - Parameter records: The records of keys that the load asked for.
    /// - Returns: The spans of the keys that the load did not fetch itself.
    func otherFetches(_ records: [FetchRecords<Key>.KeyedRecord]) -> [KeyedSpan] {
      if records.isEmpty { return [] }
      let fetched = Set(state.withLock { $0.bulkCalls }.joined())
      return records.compactMap { key, record in
        guard !fetched.contains(key), let span = record.span else { return nil }
        return (key, span)
      }
    }

    /// The span of the fetch that the load joined; nil if the load led, or if no traced fetch has begun.
    var joinedContext: ServiceContext? {
      let record = state.withLock { $0.hasFetched ? nil : $0.record }
      return record?.span?.context
    }

    /// Runs one call of a fetch inside a span.
    ///
    /// - Parameters:
    ///   - keys: The keys to fetch, if the load is of several keys.
    ///   - fetch: The closure that fetches.
    /// - Returns: The result of the fetch.
    /// - Throws: The error of the fetch.
    func trace<Fetched>(keys: [Key] = [], _ fetch: () async throws -> Fetched) async throws -> Fetched {
      let start = instrumentation.clock.now()
      let span = instrumentation.startFetchSpan(key: key, keyCount: key == nil ? keys.count : 1)
      let records = begin(span.context, keys: keys)
      defer { noteReturn(of: records) }
      do {
        let fetched = try await ServiceContext.$current.withValue(span.context) { try await fetch() }
        instrumentation.timers.record(.success, from: start, to: instrumentation.clock.now())
        span.end()
        return fetched
      } catch {
        instrumentation.timers.record(
          LatencyTimers.FetchResult(of: error), from: start, to: instrumentation.clock.now())
        instrumentation.fail(span, error)
        throw error
      }
    }

    /// Makes the span known to the loads that join. Returns the records of the fetch.
    private func begin(_ context: ServiceContext, keys: [Key]) -> [FetchRecords<Key>.KeyedRecord] {
      guard let key else {
        state.withLock { $0.bulkCalls.append(keys) }
        return keys.map { ($0, begin(context, of: $0, instrumentation.records.hold($0))) }
      }
      let held = state.withLock { state in
        state.hasFetched = true
        return state.record
      }
      let record = begin(context, of: key, held ?? instrumentation.records.hold(key))
      state.withLock { $0.record = record }
      return [(key, record)]
    }

    /// Notes that a call of the fetch has returned. The records of a bulk fetch end with it.
    private func noteReturn(of records: [FetchRecords<Key>.KeyedRecord]) {
      for (key, record) in records {
        record.noteReturn()
        if self.key == nil { instrumentation.records.end(record, of: key) }
      }
    }

    /// Sets the span of a record, or of a new one if the record belongs to an earlier fetch.
    private func begin(_ context: ServiceContext, of key: Key, _ record: FetchRecord) -> FetchRecord {
      let leader = ObjectIdentifier(self)
      if record.begin(context, by: leader) { return record }
      instrumentation.records.release(record, of: key)
      let record = instrumentation.records.holdNew(key)
      _ = record.begin(context, by: leader)
      return record
    }
  }

  extension Span {
    /// Ends the span with an error. Its type is the OpenTelemetry attribute `error.type`.
    func fail(_ error: any Error) {
      attributes["error.type"] = String(describing: type(of: error))
      recordError(error)
      setStatus(SpanStatus(code: .error))
      end()
    }
  }
#endif
