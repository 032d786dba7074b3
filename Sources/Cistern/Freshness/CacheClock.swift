/// The time that a store goes by; a test gives it one of its own.
///
/// Called on whatever thread needs the time, often: it must be cheap and must not block.
public protocol CacheClock: Sendable {
  /// The time on a clock that never goes back. Every lifetime in memory is measured on it.
  func now() -> MonotonicTime
  /// The time of day, which is all that a restart leaves. Lifetimes on disk are written in it.
  func wallTime() -> WallTime
  /// Suspends the task until ``now()`` is not earlier than `deadline`. Throws `CancellationError` when it is cancelled.
  ///
  /// Timeouts and pauses between attempts wait by it. A clock that does not implement it sleeps in real time.
  func sleep(until deadline: MonotonicTime) async throws
}

extension CacheClock {
  /// Sleeps in real time, until it is late enough.
  public func sleep(until deadline: MonotonicTime) async throws {
    while true {
      let now = now()
      guard now < deadline else { return }
      try await Task.sleep(nanoseconds: min(deadline.nanoseconds - now.nanoseconds, 1_000_000_000 * 3600))
    }
  }
}

/// A point on a clock that never goes back; its zero means nothing.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since the clock's own zero.
  public let nanoseconds: UInt64

  /// Creates a point in time.
  @inlinable
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Later than every other time: what never expires, expires then.
  @inlinable
  public static var distantFuture: MonotonicTime { MonotonicTime(nanoseconds: .max) }

  /// Orders by time.
  @inlinable
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// A time of day, in nanoseconds since the start of 1970 (UTC, leap seconds not counted).
public struct WallTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since the start of 1970; negative before it.
  public let nanosecondsSince1970: Int64

  /// Creates a time of day.
  @inlinable
  public init(nanosecondsSince1970: Int64) {
    self.nanosecondsSince1970 = nanosecondsSince1970
  }

  /// Orders by time.
  @inlinable
  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.nanosecondsSince1970 < right.nanosecondsSince1970
  }
}
