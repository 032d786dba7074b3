extension Timing {
  /// How long the value of a record is good for in memory, when it is promoted now; nil if it is gone.
  ///
  /// The time of day can be set, so that it says too little of a record's age, never too much of its life: a record
  /// that was written *after* now has an age that nobody can tell, and is gone; any other gets what the time of day
  /// leaves of its lifetime and grace, which is never more than it was written with. Give it the time of a
  /// ``WallTimeline``: then setting the clock back, while a store is open, gives no record a nanosecond.
  ///
  /// - Parameters:
  ///   - metadata: the record's.
  ///   - wallNow: The time of day.
  ///   - now: The same instant on the monotonic clock.
  package init?(of metadata: RecordMetadata, wallNow: WallTime, now: MonotonicTime) {
    guard metadata.expires != nil || metadata.idle != 0 else {
      self.init(freshUntil: .distantFuture, tags: metadata.tags, now: now)
      return
    }
    guard metadata.created <= wallNow else { return nil }
    var unused: UInt64 = 0
    if metadata.idle != 0 {
      // One that was last used after now is as one that was written after now.
      guard let time = wallNow.nanoseconds(since: metadata.lastUsed ?? metadata.created), time < metadata.idle else {
        return nil
      }
      unused = time
    }
    var freshUntil = MonotonicTime.distantFuture
    var goneFrom = MonotonicTime.distantFuture
    var staleAtZero: UInt64 = 0
    if let expires = metadata.expires {
      if let left = expires.nanoseconds(since: wallNow), left > 0 {
        freshUntil = now.advanced(by: left)
        goneFrom = freshUntil.advanced(by: metadata.grace)
      } else {
        let age = wallNow.nanoseconds(since: expires) ?? 0
        guard age < metadata.grace else { return nil }
        freshUntil = MonotonicTime(nanoseconds: now.nanoseconds - min(age, now.nanoseconds))
        staleAtZero = age - min(age, now.nanoseconds)
        goneFrom = now.advanced(by: metadata.grace - age)
      }
    }
    let span = min(metadata.refreshAhead, freshUntil.nanoseconds)
    self.init(
      freshUntil: freshUntil,
      refreshFrom: span == 0 ? nil : MonotonicTime(nanoseconds: freshUntil.nanoseconds - span), goneFrom: goneFrom,
      idle: metadata.idle, tags: metadata.tags, now: now,
      lastUsedOnDisk: MonotonicTime(nanoseconds: now.nanoseconds - min(unused, now.nanoseconds)),
      staleAtZero: staleAtZero)
  }
}

extension WallTime {
  /// Nanoseconds from the earlier time to this one; nil where it is not the earlier.
  func nanoseconds(since earlier: WallTime) -> UInt64? {
    guard earlier <= self else { return nil }
    // Both lie in order in 64 bits, so that the distance fits in 64 bits without a sign.
    return UInt64(bitPattern: nanosecondsSince1970 &- earlier.nanosecondsSince1970)
  }
}
