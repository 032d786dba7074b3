extension FlightState {
  /// Notes that the last waiter has left.
  ///
  /// - Returns: Whether the flight needs its work no longer. The caller then leaves the work.
  @inlinable
  mutating func endAttendance(_ abandonment: Abandonment) -> Bool {
    switch abandonment {
    case .never: return false
    case .atOnce: phase = .abandoned
    case .withWork: phase = .unattended
    }
    return true
  }

  /// Lets an unattended flight take a waiter, because its work counts it again.
  @usableFromInline
  mutating func attend() {
    guard case .unattended = phase else { preconditionFailure("the flight is not unattended") }
    phase = .running
  }

  /// Abandons the flight if it is unattended, because its work was cancelled.
  ///
  /// - Returns: Whether it was unattended. The caller then removes the flight's entry.
  mutating func abandonIfUnattended() -> Bool {
    guard case .unattended = phase else { return false }
    phase = .abandoned
    return true
  }
}
