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
