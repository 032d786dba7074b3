extension FlightState {
  /// Removes a waiter that joined but will not wait, because it has a value from elsewhere.
  ///
  /// - Parameters:
  ///   - waiter: The number of the waiter.
  ///   - abandonment: The rule for the flight if this is its last waiter.
  /// - Returns: Whether the flight needs its work no longer. The caller then leaves the work.
  @inlinable
  mutating func withdraw(_ waiter: Int, abandonment: Abandonment) -> Bool {
    switch waiters[waiter] ?? .gone {
    case .expected: break
    case .left:
      waiters.replace(waiter, by: .gone)
      return false
    case .waiting, .gone:
      return false
    }
    waiters.replace(waiter, by: .gone)
    remaining -= 1
    return remaining == 0 && isInProgress && endAttendance(abandonment)
  }

  /// Ends the wait of every waiter except the leader. The flight continues.
  ///
  /// - Parameter outcome: The outcome that each of these waiters gets.
  /// - Returns: The suspended waiters, in the order of joining. The others get the outcome when they suspend.
  @inlinable
  mutating func returnWaiters(with outcome: Outcome) -> [Continuation] {
    guard isInProgress else { return [] }
    var resumed: [Continuation] = []
    waiters.updateAllButFirst { waiter in
      switch waiter {
      case .waiting(let continuation):
        resumed.append(continuation)
        waiter = .gone
      case .expected:
        waiter = .left(CompletedOutcome(outcome))
      case .left, .gone:
        return
      }
      remaining -= 1
    }
    return resumed
  }
}
