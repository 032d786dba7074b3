#if Service
  import Cistern
  import CisternService
  import CisternTesting
  import InMemoryLogging
  import InMemoryTracing
  import Logging
  import MetricsTestKit
  import Tracing

  /// In-memory back ends, and instruments that report to them.
  struct BackEnds {
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()
    let logs = InMemoryLogHandler()

    func instruments(
      clock: any CacheClock = ManualClock(), labelCount: Int = 64, includesKeys: Bool = false
    ) -> CacheInstruments {
      var limits = CacheInstruments.Limits()
      limits.clock = clock
      limits.labelCount = labelCount
      return CacheInstruments(
        logger: Logger(label: "test") { [logs] _ in logs }, metrics: metrics, tracer: tracer,
        includesKeys: includesKeys,
        limits: limits)
    }

    /// The total of a counter over all series that have these labels.
    func total(_ name: String, _ labels: [String: String] = [:]) -> Int {
      Int(metrics.counterTotal(label: name, dimensions: labels.map { ($0.key, $0.value) }))
    }

    /// The present value of a gauge.
    func gauge(_ name: String, _ labels: [String: String] = [:]) -> Double? {
      metrics.meters(label: name, dimensions: labels.map { ($0.key, $0.value) }).first?.lastValue
    }

    /// The recorded latencies of all series that have this result.
    func latencies(_ name: String, result: String) -> [Int64] {
      metrics.timers(label: name, dimensions: [("cistern.cache.result", result)]).flatMap(\.values)
    }

    /// The finished spans with this name.
    func spans(_ name: String) -> [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.operationName == name } }

    /// The identities of the spans that a span links to.
    func links(of span: FinishedInMemorySpan) -> [String] {
      span.links.compactMap { $0.context.inMemorySpanContext?.spanID }
    }
  }

  /// An error of an origin.
  struct OriginError: Error, CustomStringConvertible {
    let description = "the origin is down"
  }
#endif
