extension ScheduleFailure {
  /// The number of prefixes that are tried one by one. Longer prefixes are found by binary search.
  private static let scanned = 500

  /// Returns the failure of the shortest prefix of this schedule's choices that still fails.
  ///
  /// The method first tries short prefixes, beginning with no choices. The first one that fails is the shortest. In
  /// a longer schedule, it continues with a binary search. The result fails, and the prefix with one choice less
  /// does not.
  ///
  /// - Parameter attempt: The closure that runs the schedule with at most this many choices. It returns the failure, or
  ///   nil.
  /// - Returns: The failure.
  func shrunk(_ attempt: (_ choiceLimit: Int) -> ScheduleFailure?) -> ScheduleFailure {
    var shortest = self
    var passing = -1
    while passing + 1 < min(choices, Self.scanned) {
      if let failure = attempt(passing + 1) { return failure.shrunk(from: choices) }
      passing += 1
    }
    while shortest.choices - passing > 1 {
      let middle = passing + (shortest.choices - passing) / 2
      if let failure = attempt(middle) { shortest = failure } else { passing = middle }
    }
    return shortest.shrunk(from: choices)
  }

  private func shrunk(from choices: Int) -> ScheduleFailure {
    var failure = self
    failure.choicesBeforeShrinking = choices
    return failure
  }
}
