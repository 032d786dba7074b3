/// The time of day as a store goes by it while it is open: a clock that is set back is not believed.
///
/// It is the later of what the clock says and of what it said at first plus what has passed on the monotonic clock
/// since. A clock that is set forward is believed, which can only shorten lives.
package struct WallTimeline: Sendable {
  @usableFromInline
  let first: WallTime
  @usableFromInline
  let start: MonotonicTime

  /// Begins with what the clock says now.
  @inlinable
  package init(_ clock: any CacheClock) {
    first = clock.wallTime()
    start = clock.now()
  }

  /// The time of day; `now` is this instant on the monotonic clock.
  @inlinable
  package func time(_ wallTime: WallTime, now: MonotonicTime) -> WallTime {
    let passed = now > start ? Int64(clamping: now.nanoseconds - start.nanoseconds) : 0
    let (sum, overflow) = first.nanosecondsSince1970.addingReportingOverflow(passed)
    return overflow ? wallTime : max(wallTime, WallTime(nanosecondsSince1970: sum))
  }
}
