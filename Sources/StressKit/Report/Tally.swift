import Histogram
import Locking

/// Where one client's operations are counted: those on the cache that is stressed, and those of exercises.
struct ClientTally: Sendable {
  let main = Tally()
  let exercises = Tally()
}

/// Counts one client's operations, and how long they took.
final class Tally: Sendable {
  /// What was counted. Histograms are of nanoseconds, to two digits.
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

  /// An operation ended.
  func record(_ outcome: Outcome, from start: UInt64, to end: UInt64) {
    counts.withLock { counts in
      counts.operations += 1
      counts.record(outcome, nanoseconds: end > start ? end - start : 0)
    }
  }

  /// Runs an operation, and counts it under what it came to.
  func measure(_ operation: () async -> Outcome) async {
    let start = Ticks.now()
    let outcome = await operation()
    record(outcome, from: start, to: Ticks.now())
  }

  /// Operations so far.
  var operations: Int { counts.withLock { $0.operations } }

  /// Operations of one outcome so far.
  func count(of outcome: Outcome) -> Int {
    counts.withLock { Int($0.histograms[outcome]?.totalCount ?? 0) }
  }

  /// The sum of several clients' counts.
  static func sum(_ tallies: [Tally]) -> Counts {
    var sum = Counts()
    for tally in tallies {
      let counts = tally.counts.withLock { $0 }
      sum.add(counts)
    }
    return sum
  }
}
