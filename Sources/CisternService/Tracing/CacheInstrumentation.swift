#if Service
  import CisternCore
  import Metrics
  import Tracing

  /// The timers, spans and fetch records of one cache.
  final class CacheInstrumentation<Key: Hashable & Sendable>: Sendable {
    let name: String
    let timers: LatencyTimers
    let records = FetchRecords<Key>()
    private let instruments: CacheInstruments

    init(name: String, instruments: CacheInstruments) {
      self.name = name.isEmpty ? CacheLabels.unnamed : name
      self.instruments = instruments
      timers = LatencyTimers(label: instruments.labels.label(ofCache: name), metrics: instruments.metrics)
    }

    var clock: any CacheClock { instruments.clock }

    /// Starts the span of a fetch, as a child of the leader's span.
    func startFetchSpan(key: Key?, keyCount: Int) -> any Span {
      let span = instruments.tracer.startSpan("cache.fetch")
      span.attributes[LabelName.cache] = name
      span.attributes["cistern.fetch.key_count"] = keyCount
      if let key { describe(key, in: span) }
      return span
    }

    /// Records the span of a load that joined, from its beginning until now, with links to the fetches that it waited
    /// for. A load that cannot join gives no span.
    func recordJoin(key: Key?, since start: LoadBeginning, links: [ServiceContext], error: (any Error)? = nil) {
      guard start.canJoin, !links.isEmpty else { return }
      let span = instruments.tracer.startSpan("cache.join", at: start.instant)
      span.attributes[LabelName.cache] = name
      if let key { describe(key, in: span) }
      for link in links { span.addLink(SpanLink(context: link, attributes: [:])) }
      if let error { fail(span, error) } else { span.end() }
    }

    /// Ends a span with an error.
    func fail(_ span: any Span, _ error: any Error) {
      span.fail(error.forLogs(includesKeys: instruments.includesKeys))
    }

    private func describe(_ key: Key, in span: any Span) {
      if instruments.includesKeys { span.attributes["cistern.cache.key"] = String(describing: key) }
    }

    /// The beginning of a load, on the cache's clock and on the tracer's.
    struct LoadBeginning {
      let time: MonotonicTime
      let instant: DefaultTracerClock.Timestamp
      /// Whether the load can join the flight of another load.
      let canJoin: Bool

      init(_ clock: any CacheClock, policy: LoadPolicy) {
        time = clock.now()
        instant = DefaultTracerClock.now
        // A load of a cancelled task throws at once.
        canJoin = !Task.isCancelled && policy.joinsFlights
      }
    }

    /// Notes the beginning of a load.
    ///
    /// - Parameter policy: The policy of the load.
    /// - Returns: The beginning of the load.
    func startLoad(_ policy: LoadPolicy) -> LoadBeginning { LoadBeginning(clock, policy: policy) }
  }

  extension LoadPolicy {
    /// Whether a load with the policy joins flights that began earlier.
    fileprivate var joinsFlights: Bool { !acceptsLike(.cachedOnly) && !acceptsLike(.fetchAnew) }

    /// Returns whether two policies are equal apart from their timeouts.
    private func acceptsLike(_ other: LoadPolicy) -> Bool { withZeroTimeouts == other.withZeroTimeouts }

    private var withZeroTimeouts: LoadPolicy { returningStale(after: .zero).timingOut(after: .zero) }
  }
#endif
