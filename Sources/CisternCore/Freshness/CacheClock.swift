/// The clocks of a store. Tests can provide their own implementation.
///
/// Any thread may call these methods, also under locks and in transactions, and calls are frequent. They must be fast,
/// must not block, and must not use the cache.
public protocol CacheClock: Sendable {
  /// Returns the time on a clock that never goes back. All lifetimes in memory are measured on it.
  func now() -> MonotonicTime
  /// Returns the time of day. Lifetimes on disk use it, because it survives a restart.
  func wallTime() -> WallTime
  /// Suspends the task until ``now()`` is at or after `deadline`. Timeouts and pauses between attempts use this
  /// method.
  ///
  /// The default implementation sleeps in real time.
  ///
  /// - Parameter deadline: The time to wait for.
  /// - Throws: `CancellationError` if the task is cancelled.
  func sleep(until deadline: MonotonicTime) async throws
}

extension CacheClock {
  /// Sleeps in real time until ``now()`` is at or after `deadline`.
  ///
  /// - Parameter deadline: The time to wait for.
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until deadline: MonotonicTime) async throws {
    while true {
      let now = now()
      guard now < deadline else { return }
      try await Task.sleep(nanoseconds: min(deadline.nanoseconds - now.nanoseconds, 1_000_000_000 * 3600))
    }
  }
}
