#if Service
  import CisternCore
  import Metrics

  /// The timers of one cache. They are created once, because a back end looks each one up by its labels.
  struct LatencyTimers: Sendable {
    private let fetches: [FetchResult: Timer]
    private let loads: [LoadResult: Timer]

    /// The result of a fetch, as a label.
    enum FetchResult: String, CaseIterable {
      case success, failure, cancelled

      init(of error: any Error) {
        self = error is CancellationError ? .cancelled : .failure
      }
    }

    /// The source of a load's value, as a label. A hit in memory has no timer.
    enum LoadResult: String, CaseIterable {
      case disk, joined, fetched, failure, cancelled

      /// The result of a load with this source; nil for a hit in memory.
      init?<Value>(_ source: Loaded<Value>.Source) {
        switch source {
        case .memory: return nil
        case .secondTier: self = .disk
        case .joined: self = .joined
        case .fetched: self = .fetched
        }
      }

      init(of error: any Error) {
        self = error is CancellationError ? .cancelled : .failure
      }
    }

    init(label: String, metrics: any MetricsFactory) {
      func timer(_ name: String, _ result: String) -> Timer {
        Timer(
          label: name, dimensions: [(LabelName.cache, label), (LabelName.result, result)],
          preferredDisplayUnit: .seconds,
          factory: metrics)
      }
      fetches = Dictionary(
        uniqueKeysWithValues: FetchResult.allCases.map { ($0, timer(MetricName.fetchDuration, $0.rawValue)) })
      loads = Dictionary(
        uniqueKeysWithValues: LoadResult.allCases.map { ($0, timer(MetricName.loadDuration, $0.rawValue)) })
    }

    func record(_ result: FetchResult, from start: MonotonicTime, to end: MonotonicTime) {
      fetches[result]?.recordNanoseconds(end.nanoseconds(since: start))
    }

    func record(_ result: LoadResult, from start: MonotonicTime, to end: MonotonicTime) {
      loads[result]?.recordNanoseconds(end.nanoseconds(since: start))
    }
  }

  extension MonotonicTime {
    /// The number of nanoseconds since an earlier time. Zero if that is later, because a user's clock can go back.
    func nanoseconds(since earlier: MonotonicTime) -> UInt64 { nanoseconds - min(earlier.nanoseconds, nanoseconds) }
  }
#endif
