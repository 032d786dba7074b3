/// A seeded schedule that went wrong, with the seed that replays it.
public struct ScheduleFailure: Error, Sendable {
  /// What went wrong.
  public enum Cause: Sendable {
    /// The body has not returned, and no job is left that could wake it.
    case deadlock
    /// The body has not returned, or has left tasks that never end, after as many jobs as were allowed.
    case stepLimitReached
    /// The body threw.
    case thrown(any Error)
  }

  /// The seed of the schedule.
  public let seed: UInt64
  /// What went wrong.
  public let cause: Cause
  /// How many jobs had run.
  public let steps: Int
}

extension ScheduleFailure: CustomStringConvertible {
  /// What went wrong, and how to see it again, on one line.
  public var description: String {
    let what =
      switch cause {
      case .deadlock: "deadlock: the body waits, and no job is left that could wake it"
      case .stepLimitReached: "no end: the limit on the number of jobs was reached"
      case .thrown(let error): "\(error)"
      }
    return "seed \(seed), after \(steps) jobs: \(what). CISTERN_SEED=\(seed) runs this schedule alone."
  }
}
