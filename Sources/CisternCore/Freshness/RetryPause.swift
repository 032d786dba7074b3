/// An interval in which a key is not fetched again, after its fetch failed or took too long.
@usableFromInline
struct RetryPause: Sendable {
  /// The end of the interval.
  @usableFromInline let end: MonotonicTime
  /// The time of the failure. The pause does not apply to records that were written later.
  let start: WallTime
  /// Whether a load that could return a stale value after a failure returns it without a fetch.
  ///
  /// False after an error that must reach the callers. Such a load fetches, and the pause concerns background refreshes
  /// alone.
  let permitsFallback: Bool

  init(end: MonotonicTime, start: WallTime, permitsFallback: Bool = true) {
    self.end = end
    self.start = start
    self.permitsFallback = permitsFallback
  }
}
