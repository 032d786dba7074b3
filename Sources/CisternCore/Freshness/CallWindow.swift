/// The results of the most recent calls, counted in intervals. A pure data structure, guarded by its owner's lock.
///
/// Ten intervals cover the window, so that its memory does not depend on the number of calls. Times must not go back.
struct CallWindow: Sendable {
  /// The number of intervals in a window.
  static let intervalCount: UInt64 = 10

  private struct Interval: Sendable {
    /// The number of the interval since the clock's zero.
    var number: UInt64 = 0
    var calls = 0
    var failures = 0
  }

  /// The length of an interval in nanoseconds.
  private let length: UInt64
  private var intervals = [Interval](repeating: Interval(), count: Int(intervalCount))

  /// Creates an empty window of this length in nanoseconds.
  init(length: UInt64) {
    self.length = max(1, length / Self.intervalCount)
  }

  /// Counts a call that ended at this time.
  mutating func add(isFailure: Bool, at now: MonotonicTime) {
    let number = now.nanoseconds / length
    let place = Int(number % Self.intervalCount)
    if intervals[place].number != number { intervals[place] = Interval(number: number) }
    intervals[place].calls += 1
    if isFailure { intervals[place].failures += 1 }
  }

  /// Returns the number of calls and of failures in the window that ends at this time.
  func counts(at now: MonotonicTime) -> (calls: Int, failures: Int) {
    let newest = now.nanoseconds / length
    return intervals.reduce(into: (0, 0)) { sums, interval in
      guard newest - min(newest, interval.number) < Self.intervalCount else { return }
      sums.0 += interval.calls
      sums.1 += interval.failures
    }
  }
}
