/// Lifetimes as points in time. An entry has expired when its deadline is not later than now; the deadline of what never
/// expires is ``MonotonicTime/distantFuture``.
extension Expiry {
  /// Whether a write with this lifetime has expired before it is made, and is therefore refused.
  @inlinable
  package var refusesWrite: Bool { lifetime == 0 }

  /// Whether the clock need not be read.
  @inlinable
  package var isNever: Bool { lifetime == .max }

  /// When an entry written now expires, in memory.
  @inlinable
  package func deadline(from now: MonotonicTime) -> MonotonicTime {
    now.advanced(by: lifetime)
  }

  /// When a record written now expires, on disk; nil for never.
  @inlinable
  package func wallExpiry(from now: WallTime) -> WallTime? {
    guard !isNever, let lifetime = Int64(exactly: lifetime) else { return nil }
    let (sum, overflow) = now.nanosecondsSince1970.addingReportingOverflow(lifetime)
    return overflow ? nil : WallTime(nanosecondsSince1970: sum)
  }

  /// When a record expires in memory that is promoted now; nil if it has expired.
  ///
  /// The time of day can be set, so that it says too little of a record's age, never too much of its life: a record
  /// that was written *after* now has an age that nobody can tell, and has expired; any other gets what the time of day
  /// leaves of the lifetime that it was written with, which is never more than that lifetime. Give it the time of a
  /// ``WallTimeline``: then setting the clock back, while a store is open, gives no record a nanosecond.
  ///
  /// - Parameters:
  ///   - created: When the record was written.
  ///   - expires: When it expires; nil for never.
  ///   - wallNow: The time of day.
  ///   - now: The same instant on the monotonic clock.
  @inlinable
  package static func deadline(
    ofRecordCreated created: WallTime, expires: WallTime?, wallNow: WallTime, now: MonotonicTime
  ) -> MonotonicTime? {
    guard let expires else { return .distantFuture }
    guard created <= wallNow, wallNow < expires else { return nil }
    // Both lie in order in 64 bits, so that the distance fits in 64 bits without a sign.
    let remaining = UInt64(bitPattern: expires.nanosecondsSince1970 &- wallNow.nanosecondsSince1970)
    return now.advanced(by: remaining)
  }
}

extension MonotonicTime {
  /// The time so much later, or the distant future where that cannot be counted.
  @inlinable
  package func advanced(by nanoseconds: UInt64) -> MonotonicTime {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
  }
}
