/// A seeded schedule that went wrong, with what replays it: its seed, and how many of the seed's choices it takes.
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
  /// How often the seed had chosen between jobs.
  public let choices: Int
  /// How often it had before the schedule was shrunk to its shortest prefix that fails; nil where it was not.
  public internal(set) var choicesBeforeShrinking: Int?
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
    guard let all = choicesBeforeShrinking else {
      return "seed \(seed), after \(steps) jobs: \(what). CISTERN_SEED=\(seed) runs this schedule alone."
    }
    return "seed \(seed), after \(steps) jobs: \(what). Of its \(all) choices the first \(choices) are enough, "
      + "with everything in turn from there on: CISTERN_SEED=\(seed) CISTERN_CHOICES=\(choices) runs this schedule alone."
  }
}
