extension FlightState {
  /// Announces a value before the flight completes. The flight then continues even if all waiters leave.
  ///
  /// Waiters that have not suspended yet and later waiters take the value when they suspend.
  ///
  /// - Returns: The suspended waiters, in the order of joining. Nil if the flight has ended or has announced a value
  ///   before: a second value would contradict the one that earlier waiters got. Nil for an unattended flight, which
  ///   must ``attend()`` first.
  mutating func announce(_ value: Value) -> Completion? {
    switch phase {
    case .running, .kept: break
    case .announced, .unattended, .completed, .abandoned: return nil
    }
    keep()
    phase = .announced(ReferencedValue(value))
    return takeSuspended()
  }

  /// Withdraws the announced value, because an invalidation may concern it. Waiters from now on wait for the result.
  ///
  /// The flight cannot announce another value.
  ///
  /// - Returns: The withdrawn value, which the caller must release outside the lock.
  mutating func withdrawAnnouncement() -> ReferencedValue? {
    guard case .announced(let value) = phase else { return nil }
    phase = .announced(nil)
    return value
  }
}
