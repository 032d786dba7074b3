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

  /// Notes that the disk failed. Decides whether to report it.
  mutating func noteFailure(isFull: Bool) -> ReportDecision {
    guard case .working(let hasStored) = state else { return .omit }
    state = isFull && !hasStored ? .relapsed : .failing
    return .send
  }

  /// Notes that the disk works again. Decides whether to report it.
  mutating func noteRecovery() -> ReportDecision {
    guard case .failing = state else { return .omit }
    state = .working(hasStored: false)
    return .send
  }

  /// Notes a committed record. Decides whether to report the recovery.
  mutating func noteRecord() -> ReportDecision {
    switch state {
    case .working:
      state = .working(hasStored: true)
      return .omit
    case .failing:
      return .omit
    case .relapsed:
      state = .working(hasStored: true)
      return .send
    }
  }
}
