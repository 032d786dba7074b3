extension FlightState {
  /// Takes the outcome of a waiter that joined, if it is known.
  ///
  /// - Parameter waiter: The number of the waiter.
  /// - Returns: The outcome; nil if the waiter must suspend to get one. The waiter then stays expected.
  mutating func takeOutcome(of waiter: Int) -> Outcome? {
    switch (waiters[waiter] ?? .gone, phase) {
    case (.left(let completed), _):
      waiters.replace(waiter, by: .gone)
      return completed.outcome
    case (.expected, .completed(let completed?)):
      waiters.replace(waiter, by: .gone)
      remaining -= 1
      return completed.outcome
    case (.expected, .announced(let early?)):
      waiters.replace(waiter, by: .gone)
      remaining -= 1
      return .early(early.value)
    case (.expected, _), (.waiting, _), (.gone, _):
      return nil
    }
  }
}
