import Histogram
import Locking

/// The number and durations of one client's operations.
final class Tally: Sendable {
  /// The counts. The histograms have nanoseconds with two significant digits.
  struct Counts: Sendable {
    fileprivate(set) var histograms: [Outcome: Histogram<UInt32>] = [:]
    fileprivate(set) var operations = 0

    fileprivate mutating func record(_ outcome: Outcome, nanoseconds: UInt64) {
      histograms[outcome, default: Histogram(numberOfSignificantValueDigits: .two)].record(nanoseconds)
    }

    fileprivate mutating func add(_ other: Counts) {
      operations += other.operations
      for (outcome, histogram) in other.histograms {
        histograms[outcome, default: Histogram(numberOfSignificantValueDigits: .two)].add(histogram)
      }
    }
  }

  private let counts = Guarded(Counts())

  /// Records the end of an operation.
  func record(_ outcome: Outcome, from start: UInt64, to end: UInt64) {
    counts.withLock { counts in
      counts.operations += 1
      counts.record(outcome, nanoseconds: end > start ? end - start : 0)
    }
  }

  /// Runs an operation, and records its outcome and duration.
  func measure(_ operation: () async -> Outcome) async {
    let start = Ticks.now()
    let outcome = await operation()
    record(outcome, from: start, to: Ticks.now())
  }

  /// The number of operations so far.
  var operations: Int { counts.withLock { $0.operations } }

  /// Returns the number of operations with one outcome so far.
  func count(of outcome: Outcome) -> Int {
    counts.withLock { Int($0.histograms[outcome]?.totalCount ?? 0) }
  }

  /// Returns the sum of several tallies.
  static func sum(_ tallies: [Tally]) -> Counts {
    var sum = Counts()
    for tally in tallies {
      let counts = tally.counts.withLock { $0 }
      sum.add(counts)
    }
    return sum
  }
}
