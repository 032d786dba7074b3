extension Expiry {
  /// Creates the rest of a value's lifetime, for a value that replaces it and ends with it.
  ///
  /// - Parameters:
  ///   - timing: The timing of the value, which is not gone.
  ///   - now: The current time.
  init(remainderOf timing: Timing, at now: MonotonicTime) {
    switch timing {
    case .plain(let deadline):
      self.init(lifetime: deadline.remainder(at: now))
    case .detailed(let details):
      let deadlines = details.deadlines
      self.init(lifetime: deadlines.freshUntil.remainder(at: now))
      idle = details.lastAccess?.idle ?? 0
      guard lifetime != .max else { return }
      let end = deadlines.goneFrom.remainder(at: now)
      grace = end == .max ? .max : end - min(lifetime, end)
      let staleness = now.nanoseconds - min(deadlines.freshUntil.nanoseconds, now.nanoseconds)
      windows = deadlines.windows.after(staleness)
      guard deadlines.refreshFrom < deadlines.freshUntil else { return }
      let span = min(lifetime, deadlines.freshUntil.nanoseconds - deadlines.refreshFrom.nanoseconds)
      refreshPart = min(max(1, UInt32(Double(lifetime - span) / Double(lifetime) * 65_536)), 65_535)
    }
  }
}

extension MonotonicTime {
  /// Returns the nanoseconds until this deadline: at least 1, and the maximum for the distant future.
  fileprivate func remainder(at now: MonotonicTime) -> UInt64 {
    self == .distantFuture ? .max : max(1, nanoseconds - min(now.nanoseconds, nanoseconds))
  }
}

extension StaleWindows {
  /// Returns the windows that remain for a value that has been stale for this number of nanoseconds.
  fileprivate func after(_ staleness: UInt64) -> StaleWindows {
    func rest(of window: UInt64) -> UInt64 { window == .max ? .max : window - min(staleness, window) }
    return StaleWindows(whileRevalidate: rest(of: whileRevalidate), ifError: rest(of: ifError))
  }
}
