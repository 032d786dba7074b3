extension Timing {
  /// Creates the timing in memory of a record's value that is promoted now; nil if the value is gone.
  ///
  /// The time of day can be set, so a record may appear too young. A record with a lifetime or an idle time that was
  /// written after both `wallNow` and `latestWriteTime` has an unknown age and is gone. Any other record keeps the part
  /// of its lifetime and grace that remains by the time of day. This is never more than it was written with.
  ///
  /// Pass the times of a ``WallTimeline``. A clock that is set back while the store is open then extends no lifetime. A
  /// clock that was set forward before extends the lifetime of a record of that time, by at most that shift.
  ///
  /// - Parameters:
  ///   - metadata: The metadata of the record.
  ///   - wallNow: The time of day.
  ///   - latestWriteTime: The latest time of day at which the reader itself may have written a record; nil for
  ///     `wallNow`.
  ///   - now: The same instant as `wallNow` on the monotonic clock.
  ///   - measuresAge: Whether the age of the value must be known.
  package init?(
    of metadata: RecordMetadata, wallNow: WallTime, latestWriteTime: WallTime? = nil, now: MonotonicTime,
    measuresAge: Bool = false
  ) {
    let age = ValueAge(nanoseconds: wallNow.nanoseconds(since: metadata.created) ?? 0, isNeeded: measuresAge)
    guard metadata.expires != nil || metadata.idle != 0 else {
      self.init(Deadlines(freshUntil: .distantFuture), tags: metadata.tags, age: age, now: now)
      return
    }
    let latestTime = max(wallNow, latestWriteTime ?? wallNow)
    guard metadata.created <= latestTime else { return nil }
    var unused: UInt64 = 0
    if metadata.idle != 0 {
      // A record whose last use is in the future is treated as one that was written then.
      let lastUse = metadata.lastUsed ?? metadata.created
      guard lastUse <= latestTime else { return nil }
      unused = wallNow.nanoseconds(since: lastUse) ?? 0
      guard unused < metadata.idle else { return nil }
    }
    var freshUntil = MonotonicTime.distantFuture
    var goneFrom = MonotonicTime.distantFuture
    var staleAtZero: UInt64 = 0
    if let expires = metadata.expires {
      // A record of the time when the clock was set forward has its whole lifetime until that time comes again.
      let reached = max(wallNow, metadata.created)
      if let left = expires.nanoseconds(since: reached), left > 0 {
        freshUntil = now.advanced(by: left)
        goneFrom = freshUntil.advanced(by: metadata.grace)
      } else {
        let age = reached.nanoseconds(since: expires) ?? 0
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
      lastAccess: metadata.idle == 0
        ? nil
        : LastAccess(
          idle: metadata.idle, last: now.earlier(by: unused), lastOnDisk: now.earlier(by: unused)),
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

extension MonotonicTime {
  /// Returns the time `nanoseconds` before, or zero if the clock had not begun then.
  fileprivate func earlier(by nanoseconds: UInt64) -> MonotonicTime {
    MonotonicTime(nanoseconds: self.nanoseconds - min(nanoseconds, self.nanoseconds))
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
