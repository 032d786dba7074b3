extension Timing {
  /// Creates the timing in memory of a record's value that is promoted now; nil if the value is gone.
  ///
  /// The time of day can be set, so a record may appear too young, but its lifetime must never be extended. A
  /// record with a lifetime or an idle time that was written after `wallNow` has an unknown age and is gone. Any other
  /// record keeps the part of its lifetime and grace that remains by the time of day. This is never more than it was
  /// written with.
  ///
  /// Pass the time of a ``WallTimeline``. A clock that is set back while the store is open then extends no
  /// lifetime.
  ///
  /// - Parameters:
  ///   - metadata: The metadata of the record.
  ///   - wallNow: The time of day.
  ///   - now: The same instant on the monotonic clock.
  ///   - measuresAge: Whether the age of the value must be known.
  package init?(of metadata: RecordMetadata, wallNow: WallTime, now: MonotonicTime, measuresAge: Bool = false) {
    let age = ValueAge(nanoseconds: wallNow.nanoseconds(since: metadata.created) ?? 0, isNeeded: measuresAge)
    guard metadata.expires != nil || metadata.idle != 0 else {
      self.init(Deadlines(freshUntil: .distantFuture), tags: metadata.tags, age: age, now: now)
      return
    }
    guard metadata.created <= wallNow else { return nil }
    var unused: UInt64 = 0
    if metadata.idle != 0 {
      // A record whose last use is after `wallNow` is treated as one that was written after it.
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
    self.init(
      Deadlines(
        freshUntil: freshUntil, refreshSpan: metadata.refreshAhead, goneFrom: goneFrom, windows: metadata.windows,
        staleAtZero: staleAtZero),
      uses: metadata.idle == 0
        ? nil
        : LastAccess(
          idle: metadata.idle, last: now,
          lastOnDisk: MonotonicTime(nanoseconds: now.nanoseconds - min(unused, now.nanoseconds))),
      tags: metadata.tags, age: age, now: now)
  }
}

extension RecordMetadata {
  /// Returns whether the lifetime and the grace of the record had ended at a time of day, or its time to idle had.
  ///
  /// False for a record that was written or used after that time: another process can do so.
  package func hasEnded(by time: WallTime) -> Bool {
    guard created <= time, lastUsed ?? created <= time else { return false }
    return Timing(of: self, wallNow: time, now: MonotonicTime(nanoseconds: 0)) == nil
  }
}

extension WallTime {
  /// Returns the nanoseconds since an earlier time; nil if that time is later.
  @inlinable
  func nanoseconds(since earlier: WallTime) -> UInt64? {
    guard earlier <= self else { return nil }
    // Both times are signed 64-bit integers in order, so their distance fits in an unsigned one.
    return UInt64(bitPattern: nanosecondsSince1970 &- earlier.nanosecondsSince1970)
  }
}
