/// The failure of a seeded schedule, with the seed and the number of choices that replay it.
public struct ScheduleFailure: Error, Sendable {
  /// A cause of a failure.
  public enum Cause: Sendable {
    /// The body has not returned, and no job is left that could resume it.
    case deadlock
    /// The schedule has run the maximum number of jobs. The body has not returned, or its tasks do not end.
    case stepLimitReached
    /// The body threw an error.
    case thrown(any Error)
  }

  /// The seed of the schedule.
  public let seed: UInt64
  /// The cause of the failure.
  public let cause: Cause
  /// The number of jobs that ran.
  public let steps: Int
  /// The number of times that the seed chose between several jobs.
  public let choices: Int
  /// The number of choices before the schedule was reduced to its shortest failing prefix, or nil if it was not
  /// reduced.
  public internal(set) var choicesBeforeShrinking: Int?
}

extension ScheduleFailure: CustomStringConvertible {
  /// The cause, and the environment variables that replay the failure, on one line.
  public var description: String {
    let reason =
      switch cause {
      case .deadlock: "deadlock: the body waits, and no job is left that could wake it"
      case .stepLimitReached: "no end: the limit on the number of jobs was reached"
      case .thrown(let error): "\(error)"
      }
    guard let all = choicesBeforeShrinking else {
      return "seed \(seed), after \(steps) jobs: \(reason). CISTERN_SEED=\(seed) runs this schedule alone."
    }
    return "seed \(seed), after \(steps) jobs: \(reason). Of its \(all) choices the first \(choices) are enough, "
      + "with everything in turn from there on: CISTERN_SEED=\(seed) CISTERN_CHOICES=\(choices) runs this schedule alone."
  }
}
