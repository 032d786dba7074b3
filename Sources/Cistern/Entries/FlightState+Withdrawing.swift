extension FlightState {
  /// A waiter that joined does not come to wait, because it has its value from elsewhere.
  ///
  /// - Returns: whether it was the last: the flight's entry goes, and the flight is cancelled.
  @inlinable
  mutating func withdraw(_ waiter: Int, abandoningIfLast: Bool) -> Bool {
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
    guard remaining == 0, abandoningIfLast, isUnderWay else { return false }
    phase = .abandoned
    return true
  }

  /// Ends the wait of everyone but the leader. The flight goes on.
  ///
  /// - Parameter error: ends the wait of each of them.
  /// - Returns: the waiters to resume, in the order of joining. Others get the error when they come to wait.
  @inlinable
  mutating func sendBack(with error: any Error) -> [Continuation] {
    guard isUnderWay else { return [] }
    var resumed: [Continuation] = []
    waiters.updateAllButFirst { waiter in
      switch waiter {
      case .waiting(let continuation):
        resumed.append(continuation)
        waiter = .gone
      case .expected:
        waiter = .left(error)
      case .left, .gone:
        return
      }
      remaining -= 1
    }
    return resumed
  }
}
