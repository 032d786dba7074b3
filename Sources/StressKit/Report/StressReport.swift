/// The report of a stress run, as JSON and as the source of the text report.
struct StressReport: Codable, Sendable {
  /// The latencies of one outcome in nanoseconds.
  struct OutcomeSummary: Codable, Sendable {
    let count: Int
    let p50: UInt64
    let p99: UInt64
    let p999: UInt64
    let max: UInt64
  }

  /// The limit of a tier, and the maximum size that was observed, in bytes.
  struct LimitSummary: Codable, Sendable {
    let limit: Int
    let peak: Int
  }

  /// The numbers of observers and of their changes.
  struct ObserverSummary: Codable, Sendable {
    /// The number of registered observers, including those of the whole cache.
    let registered: Int
    /// The number of changes that the observers of the whole cache received.
    let changes: Int
    /// The number of changes that the observers of keys and prefixes received.
    let scopedChanges: Int
  }

  let seed: UInt64
  let configuration: StressConfiguration.Summary
  let seconds: Double
  let operations: Int
  let originRequests: Int
  /// The number of requests that returned a value.
  let originValues: Int
  /// The reason why a user's server returned no value, or nil if it returned one.
  let originFailure: String?
  let distinctKeys: Int
  let outcomes: [String: OutcomeSummary]
  /// The outcomes of the exercises.
  let exercises: [String: OutcomeSummary]
  /// The requests to an origin behind a circuit breaker; nil if no exercise has one.
  let breaker: OriginRequests.Counts?
  let limits: [String: LimitSummary]
  let observers: ObserverSummary
  /// The number of background refreshes.
  let refreshes: Int
  /// The number of times that the store was closed and reopened.
  let reopenings: Int
  /// The number of operations that the history checker judged.
  let historyOperations: Int
  /// Whether a signal ended the run early.
  let interrupted: Bool
  /// The number of violations. The list has the first hundred.
  let violationCount: Int
  let violations: [Violation]

  var operationsPerSecond: Double { seconds > 0 ? Double(operations) / seconds : 0 }

  func count(_ outcome: Outcome) -> Int { outcomes[outcome.rawValue]?.count ?? 0 }

  /// The number of loads with an outcome of memory, disk, joined, fetched, or failed.
  var loads: Int { [.memory, .disk, .joined, .fetched, .failed].reduce(0) { $0 + count($1) } }
}

extension StressReport.OutcomeSummary {
  static func summaries(of counts: Tally.Counts) -> [String: StressReport.OutcomeSummary] {
    // The report has all outcomes, so that readers of the file need not handle absent ones.
    Dictionary(
      uniqueKeysWithValues: Outcome.allCases.map { outcome in
        guard let histogram = counts.histograms[outcome] else {
          return (outcome.rawValue, StressReport.OutcomeSummary(count: 0, p50: 0, p99: 0, p999: 0, max: 0))
        }
        return (
          outcome.rawValue,
          StressReport.OutcomeSummary(
            count: Int(histogram.totalCount), p50: histogram.valueAtPercentile(50),
            p99: histogram.valueAtPercentile(99), p999: histogram.valueAtPercentile(99.9), max: histogram.max)
        )
      })
  }
}
