extension ScheduleFailure {
  /// Prefixes that are tried one after the other; beyond them, by halves.
  private static let scanned = 500

  /// The failure of the shortest prefix of this schedule's choices that fails, too.
  ///
  /// Every prefix is tried, from none of the choices on, so that nothing fails but the last. In a long schedule those
  /// that follow are searched by halves: the prefix found fails, and the one that is shorter by a choice does not.
  ///
  /// - Parameter attempt: Runs the schedule with so many of its choices; what it fails with.
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
