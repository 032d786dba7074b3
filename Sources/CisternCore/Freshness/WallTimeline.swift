import Synchronization

/// The time of day of an open store, which ignores a clock that is set back. All caches of the store share it.
///
/// The result is the later of two times. One is the clock's time of day. The other is the first time of day plus
/// the time that has passed on the monotonic clock. A clock that is set forward has an effect, which can only
/// shorten lifetimes.
///
/// A record that was written while the clock was set forward has a write time in the future after the clock is set
/// back. The timeline knows how far its own writes were ahead, so that such a record does not count as expired.
package final class WallTimeline: Sendable {
  package let clock: any CacheClock
  private let first: WallTime
  private let start: MonotonicTime
  /// The most nanoseconds by which the time of a write was later than the first time plus the time that had passed. It
  /// is atomic, and never falls.
  private let lead = Atomic<Int64>(0)

  /// Creates a timeline that begins at the clock's current time.
  package init(_ clock: any CacheClock) {
    self.clock = clock
    first = clock.wallTime()
    start = clock.now()
  }

  /// Returns the time of day of the store.
  ///
  /// - Parameters:
  ///   - wallTime: The clock's time of day.
  ///   - now: The same instant on the monotonic clock.
  /// - Returns: The time of day.
  package func time(_ wallTime: WallTime, now: MonotonicTime) -> WallTime {
    guard let passed = passed(at: now) else { return wallTime }
    return max(wallTime, passed)
  }

  /// Returns the time of day for a record that is written now, and notes how far it is ahead.
  ///
  /// Call it before a reader can find the record.
  ///
  /// - Parameters:
  ///   - wallTime: The clock's time of day.
  ///   - now: The same instant on the monotonic clock.
  /// - Returns: The time of day.
  package func timeOfWrite(_ wallTime: WallTime, now: MonotonicTime) -> WallTime {
    guard let passed = passed(at: now) else { return wallTime }
    let time = max(wallTime, passed)
    if let ahead = time.nanoseconds(since: passed).map({ Int64(clamping: $0) }) {
      // Most writes are not further ahead than an earlier one, and change nothing that threads share.
      if ahead > lead.load(ordering: .relaxed) { lead.max(ahead, ordering: .relaxed) }
    }
    return time
  }

  /// Returns a time of day that no record is later than, if this store wrote the record.
  ///
  /// - Parameter now: A time on the monotonic clock, at or after the write.
  /// - Returns: The time of day.
  package func latestTimeOfWrite(now: MonotonicTime) -> WallTime {
    guard let passed = passed(at: now) else { return WallTime(nanosecondsSince1970: .max) }
    let (sum, overflow) = passed.nanosecondsSince1970.addingReportingOverflow(lead.load(ordering: .relaxed))
    return WallTime(nanosecondsSince1970: overflow ? .max : sum)
  }

  /// The first time of day plus the time that has passed; nil if it cannot be represented.
  private func passed(at now: MonotonicTime) -> WallTime? {
    let passed = now > start ? Int64(clamping: now.nanoseconds - start.nanoseconds) : 0
    let (sum, overflow) = first.nanosecondsSince1970.addingReportingOverflow(passed)
    return overflow ? nil : WallTime(nanosecondsSince1970: sum)
  }
}
