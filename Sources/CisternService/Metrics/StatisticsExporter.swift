#if Service
  import CisternCore
  import Locking
  import Metrics

  /// Transfers statistics to metrics. Look-ups only raise the cache's own counters, so metrics cost a hit nothing.
  final class StatisticsExporter: Sendable {
    private struct State: Sendable {
      /// The totals of each cache at the last transfer; the store's own have the name nil.
      var totals: [String?: [MetricSample.Series: Int]] = [:]
      var counters: [MetricSample.Series: Counter] = [:]
      var meters: [MetricSample.Series: Meter] = [:]
    }

    private let metrics: any MetricsFactory
    private let labels: CacheLabels
    // The lock orders transfers, so that each difference is added once. It is held while the statistics are read and
    // while handlers of the back end are called: neither may record statistics.
    private let state = Guarded(State())

    init(metrics: any MetricsFactory, labels: CacheLabels) {
      self.metrics = metrics
      self.labels = labels
    }

    /// Raises the counters by the differences to the last call, and sets the gauges.
    ///
    /// - Parameter read: The closure that reads the statistics. It runs under the lock, so that no call records
    ///   statistics that are older than those of an earlier call. These would look like those of a reopened cache.
    func record(_ read: () -> StoreStatistics) {
      state.withLock { state in
        let statistics = read()
        var gauges: [MetricSample.Series: Int] = [:]
        // Gauges without a current sample are those of caches that no longer exist.
        for series in state.meters.keys { gauges[series] = 0 }
        var totals: [String?: [MetricSample.Series: Int]] = [:]
        totals[nil] = record(statistics.samples, ofCache: nil, in: &state, gauges: &gauges)
        for (name, cache) in statistics.caches {
          totals[name] = record(cache.samples, ofCache: name, in: &state, gauges: &gauges)
        }
        state.totals = totals
        for (series, value) in gauges { meter(series, in: &state).set(value) }
      }
    }

    /// Records the samples of one cache, or of the store. Caches that share a label add up.
    ///
    /// - Returns: The new totals.
    private func record(
      _ samples: [MetricSample], ofCache name: String?, in state: inout State, gauges: inout [MetricSample.Series: Int]
    ) -> [MetricSample.Series: Int] {
      let earlier = state.totals[name] ?? [:]
      var totals: [MetricSample.Series: Int] = [:]
      let label = name.map { labels.label(ofCache: $0) }
      let labeled = samples.map { sample in
        var sample = sample
        if let label { sample.series.labels[LabelName.cache] = label }
        return sample
      }
      // All totals of a cache that was released and opened again count from zero.
      let isReopened = labeled.contains { $0.kind == .total && $0.value < (earlier[$0.series] ?? 0) }
      for sample in labeled {
        let (series, value) = (sample.series, sample.value)
        switch sample.kind {
        case .gauge:
          gauges[series, default: 0] += value
        case .total, .correctedTotal:
          let before = isReopened ? 0 : earlier[series] ?? 0
          // A counter cannot fall, so a correction reduces its next increase.
          totals[series] = max(value, before)
          let counter = counter(series, in: &state)
          if value > before { counter.increment(by: value - before) }
        }
      }
      return totals
    }

    private func counter(_ series: MetricSample.Series, in state: inout State) -> Counter {
      if let counter = state.counters[series] { return counter }
      let counter = Counter(label: series.name, dimensions: series.dimensions, factory: metrics)
      state.counters[series] = counter
      return counter
    }

    private func meter(_ series: MetricSample.Series, in state: inout State) -> Meter {
      if let meter = state.meters[series] { return meter }
      let meter = Meter(label: series.name, dimensions: series.dimensions, factory: metrics)
      state.meters[series] = meter
      return meter
    }
  }
#endif
