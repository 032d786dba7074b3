/// The reports of an outage. A full device that takes no record alternates between working and failing, and must not
/// fill the log with reports.
struct OutageReports {
  private enum State {
    /// The disk works. `hasStored` is false if it has taken no record since the last recovery.
    case working(hasStored: Bool)
    /// The outage is reported, and so will be the recovery.
    case failing
    /// The device was full again before it took a record. The next record ends the outage.
    case relapsed
  }

  private var state = State.working(hasStored: true)

  /// Notes that the disk failed. Returns whether to report it.
  mutating func noteFailure(isFull: Bool) -> Bool {
    guard case .working(let hasStored) = state else { return false }
    state = isFull && !hasStored ? .relapsed : .failing
    return true
  }

  /// Notes that the disk works again. Returns whether to report it.
  mutating func noteRecovery() -> Bool {
    guard case .failing = state else { return false }
    state = .working(hasStored: false)
    return true
  }

  /// Notes a committed record. Returns whether to report the recovery.
  mutating func noteRecord() -> Bool {
    switch state {
    case .working:
      state = .working(hasStored: true)
      return false
    case .failing:
      return false
    case .relapsed:
      state = .working(hasStored: true)
      return true
    }
  }
}
