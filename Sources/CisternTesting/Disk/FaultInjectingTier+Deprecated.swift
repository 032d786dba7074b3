// Former names, which existing tests may still use.

extension FaultInjectingTier {
  /// The former name of ``LossReporting``.
  @available(*, deprecated, renamed: "LossReporting")
  public typealias DepartureMode = LossReporting

  /// Creates an empty tier, as ``init(commits:losses:taskExecutor:)`` does.
  @available(*, deprecated, renamed: "init(commits:losses:taskExecutor:)")
  public convenience init(
    commits: CommitMode = .immediate, departures: LossReporting, taskExecutor: (any TaskExecutor)? = nil
  ) {
    self.init(commits: commits, losses: departures, taskExecutor: taskExecutor)
  }

  /// The former name of ``deliverLosses()``.
  @available(*, deprecated, renamed: "deliverLosses()")
  public func deliverDepartures() { deliverLosses() }
}
