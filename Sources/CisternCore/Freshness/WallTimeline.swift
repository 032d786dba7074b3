/// The time of day of an open store, which ignores a clock that is set back.
///
/// The result is the later of two times. One is the clock's time of day. The other is the first time of day plus
/// the time that has passed on the monotonic clock. A clock that is set forward has an effect, which can only
/// shorten lifetimes.
package struct WallTimeline: Sendable {
  @usableFromInline
  let first: WallTime
  @usableFromInline
  let start: MonotonicTime

  /// Creates a timeline that begins at the clock's current time.
  @inlinable
  package init(_ clock: any CacheClock) {
    first = clock.wallTime()
    start = clock.now()
  }

  /// Returns the time of day of the store.
  ///
  /// - Parameters:
  ///   - wallTime: The clock's time of day.
  ///   - now: The same instant on the monotonic clock.
  /// - Returns: The time of day.
  @inlinable
  package func time(_ wallTime: WallTime, now: MonotonicTime) -> WallTime {
    let passed = now > start ? Int64(clamping: now.nanoseconds - start.nanoseconds) : 0
    let (sum, overflow) = first.nanosecondsSince1970.addingReportingOverflow(passed)
    return overflow ? wallTime : max(wallTime, WallTime(nanosecondsSince1970: sum))
  }
}
