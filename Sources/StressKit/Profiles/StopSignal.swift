import Synchronization

/// The signal that ends a run: after its duration, after its number of operations, or on Ctrl-C.
final class StopSignal: Sendable {
  private let duration: UInt64
  private let budget: Int
  /// The time at which the run ends, or the maximum before the run begins.
  private let deadline = Atomic<UInt64>(.max)
  private let spent = Atomic<Int>(0)
  private let stopped = Atomic(false)
  private let interrupted = Atomic(false)

  init(_ bound: StressConfiguration.Bound) {
    switch bound {
    case .duration(let duration):
      self.duration = duration.nanoseconds
      budget = .max
    case .operations(let count):
      duration = .max
      budget = count
    }
  }

  /// Begins the run. Its duration counts from this time.
  func begin(at now: UInt64) {
    let (deadline, overflow) = now.addingReportingOverflow(duration)
    self.deadline.store(overflow ? .max : deadline, ordering: .relaxed)
  }

  /// Whether the run must end. Clients complete the operations that they have taken.
  var isRaised: Bool {
    stopped.load(ordering: .relaxed) || Ticks.now() >= deadline.load(ordering: .relaxed)
  }

  /// Whether a user interrupted the run.
  var isInterrupted: Bool { interrupted.load(ordering: .relaxed) }

  /// Takes up to `count` operations from the budget. Returns the number of operations, or 0 if the run must end.
  func take(_ count: Int) -> Int {
    guard !isRaised else { return 0 }
    let before = spent.wrappingAdd(count, ordering: .relaxed).oldValue
    // The run is over, and the time for clients that wait begins.
    if before >= budget - count { stopped.store(true, ordering: .relaxed) }
    return max(0, min(count, budget - before))
  }

  /// Returns the completed fraction of the run at a time, from 0 to 1.
  func progress(at now: UInt64, since start: UInt64) -> Double {
    if budget != .max { return min(1, Double(spent.load(ordering: .relaxed)) / Double(budget)) }
    return min(1, Double(now - start) / Double(max(1, duration)))
  }

  /// Ends the run early, for a user.
  func interrupt() {
    interrupted.store(true, ordering: .relaxed)
    end()
  }

  /// Ends the run early, because of a failure that makes its continuation useless.
  func end() { stopped.store(true, ordering: .relaxed) }
}
