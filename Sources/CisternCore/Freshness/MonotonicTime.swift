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
