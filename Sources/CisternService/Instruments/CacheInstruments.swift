#if Service
  public import CisternCore
  public import Logging
  public import Metrics
  public import Tracing

  /// The back ends that a server's caches report to: a logger, a metrics factory and a tracer.
  ///
  /// Create one value for each process, and pass it to the ``StoreService`` and to every ``InstrumentedCache``. They
  /// then share the bound on labels.
  public struct CacheInstruments: Sendable {
    /// The logger of reports and failures.
    public let logger: Logger
    /// The factory of counters, gauges and timers.
    public let metrics: any MetricsFactory
    /// Whether spans and log records contain keys. Keys are not bounded in number, and may be personal data. Errors of
    /// a fetch are recorded as they describe themselves.
    public let includesKeys: Bool
    /// The clock that measures latencies and intervals.
    let clock: any CacheClock
    let labels: CacheLabels
    private let givenTracer: (any Tracer)?

    /// Creates instruments.
    ///
    /// - Parameters:
    ///   - logger: The logger of reports and failures.
    ///   - metrics: The factory of counters, gauges and timers. Nil for the factory that the process was bootstrapped
    ///     with.
    ///   - tracer: The tracer of fetches. Nil for the tracer that is active when a fetch begins.
    ///   - includesKeys: Whether spans and log records contain keys.
    ///   - limits: The bound on labels, and the clock.
    public init(
      logger: Logger, metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil, includesKeys: Bool = false,
      limits: Limits = Limits()
    ) {
      self.logger = logger
      self.metrics = metrics ?? MetricsSystem.factory
      givenTracer = tracer
      self.includesKeys = includesKeys
      clock = limits.clock
      labels = CacheLabels(limit: limits.labelCount)
    }

    /// The bound on labels, and the clock of instruments.
    public struct Limits: Sendable {
      /// The number of caches that have their own label. Further caches share the label "other".
      public var labelCount = 64
      /// The clock that measures latencies and intervals.
      public var clock: any CacheClock = SystemClock()

      /// Creates the default limits.
      public init() {}
    }

    /// The tracer of a fetch that begins now.
    var tracer: any Tracer { givenTracer ?? InstrumentationSystem.tracer }
  }
#endif
