/// What a stress run has shown: the JSON file, and what the table is made from.
struct StressReport: Codable, Sendable {
  /// Latencies of one outcome, in nanoseconds.
  struct OutcomeSummary: Codable, Sendable {
    let count: Int
    let p50: UInt64
    let p99: UInt64
    let p999: UInt64
    let max: UInt64
  }

  /// A tier's limit and the most that it was seen to hold, in bytes.
  struct LimitSummary: Codable, Sendable {
    let limit: Int
    let peak: Int
  }

  /// What observers were told.
  struct ObserverSummary: Codable, Sendable {
    /// Observers that were registered, whole-cache ones included.
    let registered: Int
    /// Changes delivered to the observers of the whole cache.
    let changes: Int
    /// Changes delivered to those of a key or prefix.
    let scopedChanges: Int
  }

  let seed: UInt64
  let configuration: StressConfiguration.Summary
  let seconds: Double
  let operations: Int
  let originRequests: Int
  /// Requests that were answered with a value.
  let originValues: Int
  /// The reason why a server of the user's gave no value; nil if it gave one.
  let originFailure: String?
  let distinctKeys: Int
  let outcomes: [String: OutcomeSummary]
  /// Operations of exercises, beside the cache that is stressed.
  let exercises: [String: OutcomeSummary]
  let limits: [String: LimitSummary]
  let observers: ObserverSummary
  /// Fetches in the background, while an older value was returned.
  let refreshes: Int
  /// How often the store was closed and opened again during the run.
  let reopenings: Int
  /// Reads whose values went through the history checker.
  let historyOperations: Int
  /// Whether a signal ended the run early.
  let interrupted: Bool
  /// How many violations there were; the list has the first hundred.
  let violationCount: Int
  let violations: [Violation]

  var operationsPerSecond: Double { seconds > 0 ? Double(operations) / seconds : 0 }

  func count(_ outcome: Outcome) -> Int { outcomes[outcome.rawValue]?.count ?? 0 }

  /// Loads, and how they ended.
  var loads: Int { [.memory, .disk, .joined, .fetched, .failed].reduce(0) { $0 + count($1) } }
}

extension StressReport.OutcomeSummary {
  static func summaries(of counts: Tally.Counts) -> [String: StressReport.OutcomeSummary] {
    // Every outcome is there, so that whoever reads the file need not ask.
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
