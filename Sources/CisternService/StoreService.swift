#if Service
  public import CisternCore
  import Logging
  public import ServiceLifecycle

  /// The life of a store in a server: exports its metrics, and closes it at the graceful shutdown.
  ///
  /// A `ServiceGroup` shuts its services down in reverse order. List the store's service before the server, so that the
  /// server has answered its last request when the store closes:
  ///
  ///     ServiceGroup(
  ///       services: [storeService, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
  ///
  /// If the task of ``run()`` is cancelled instead, the store is closed in the same way.
  public struct StoreService: Service {
    let store: Store
    let instruments: CacheInstruments
    let closingDeadline: Duration
    private let metricsInterval: Duration
    private let exporter: StatisticsExporter

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - store: The store. Nothing else may close it.
    ///   - instruments: The back ends of the process.
    ///   - closingDeadline: The longest time that the shutdown waits for the last writes.
    ///   - metricsInterval: The time between two exports of the statistics. An export reads counters and takes some
    ///     microseconds. An interval below one millisecond counts as one millisecond.
    public init(
      _ store: Store, instruments: CacheInstruments, closingDeadline: Duration = .seconds(10),
      metricsInterval: Duration = .seconds(10)
    ) {
      self.store = store
      self.instruments = instruments
      self.closingDeadline = closingDeadline
      // Without a pause, the exports would keep a thread from other tasks.
      self.metricsInterval = max(metricsInterval, .milliseconds(1))
      exporter = StatisticsExporter(metrics: instruments.metrics, labels: instruments.labels)
    }

    /// Exports metrics until the graceful shutdown, then flushes and closes the store.
    ///
    /// Returns after the close or at the deadline. A close that fails or takes too long is logged as an error, with
    /// these numbers of writes:
    ///
    /// - `cistern.store.failed`: those that failed during the close.
    /// - `cistern.store.failed_earlier`: those that failed before. Later writes of their keys can be on disk.
    /// - `cistern.store.staged`: those that are still staged.
    ///
    /// The error is not thrown: the service group would then cancel the services that still shut down.
    public func run() async throws {
      await exportUntilShutdown()
      exportStatistics()
      // In another task, because a cancelled task could not wait.
      await Task { await close() }.value
      exportStatistics()
    }

    /// Exports the statistics. Call it before a scrape of a pull-based back end, so that the numbers are current.
    ///
    /// Any thread may call the method. Concurrent exports of this service run one after the other. The handlers of the
    /// metrics back end and the statistics of a custom second tier must not export statistics.
    public func exportStatistics() {
      exporter.record { store.statistics }
    }

    private func exportUntilShutdown() async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          do {
            while !Task.isCancelled {
              exportStatistics()
              try await instruments.clock.sleep(for: metricsInterval)
            }
          } catch {
            // A cancellation, or a clock that cannot sleep: the export ends, because it would not pause.
          }
        }
        // A cancellation ends the export, as a shutdown does.
        try? await gracefulShutdown()
        group.cancelAll()
      }
    }
  }

  extension CacheClock {
    /// Suspends the task for a duration.
    func sleep(for duration: Duration) async throws {
      try await sleep(until: now().advanced(by: duration.countedNanoseconds))
    }
  }
#endif
