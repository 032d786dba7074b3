/// The age of a value when its timing is made.
@usableFromInline
struct ValueAge: Sendable {
  /// The nanoseconds since the value was stored.
  @usableFromInline let nanoseconds: UInt64
  /// Whether the cache measures the age of every value (``CacheConfiguration/measuresAge``). Otherwise, a value with
  /// only one deadline has no known age.
  @usableFromInline let isNeeded: Bool

  @inlinable
  init(nanoseconds: UInt64 = 0, isNeeded: Bool = false) {
    self.nanoseconds = nanoseconds
    self.isNeeded = isNeeded
  }

  /// Returns the time at which the value was stored. Negative if that was before the clock's zero.
  @usableFromInline
  func created(at now: MonotonicTime) -> Int64 {
    let (created, overflow) = Int64(clamping: now.nanoseconds).subtractingReportingOverflow(
      Int64(clamping: nanoseconds))
    return overflow ? .min : created
  }
}
