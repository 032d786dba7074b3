/// The clocks of a store. Tests can provide their own implementation.
///
/// Any thread may call these methods, and calls are frequent. They must be fast and must not block.
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

/// A point in time on a clock that never goes back. Its zero has no meaning.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  /// The number of nanoseconds since the clock's zero.
  public let nanoseconds: UInt64

  /// Creates a point in time.
  ///
  /// - Parameter nanoseconds: The number of nanoseconds since the clock's zero.
  @inlinable
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The latest point in time, which is the deadline of a value that never expires.
  @inlinable
  public static var distantFuture: MonotonicTime { MonotonicTime(nanoseconds: .max) }

  /// Returns whether `left` is earlier than `right`.
  @inlinable
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// A time of day, in nanoseconds since the start of 1970 in UTC, without leap seconds.
public struct WallTime: Sendable, Hashable, Comparable, Codable {
  /// The number of nanoseconds since the start of 1970; negative for earlier times.
  public let nanosecondsSince1970: Int64

  /// Creates a time of day.
  ///
  /// - Parameter nanosecondsSince1970: The number of nanoseconds since the start of 1970.
  @inlinable
  public init(nanosecondsSince1970: Int64) {
    self.nanosecondsSince1970 = nanosecondsSince1970
  }

  /// Returns whether `left` is earlier than `right`.
  @inlinable
  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.nanosecondsSince1970 < right.nanosecondsSince1970
  }
}
