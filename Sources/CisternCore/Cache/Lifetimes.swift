import Synchronization

/// The time of a cache, and the lifetimes of its values and records.
@usableFromInline
final class Lifetimes<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let clock: any CacheClock
  /// The time of day, which does not go back with the system's clock.
  private let timeline: WallTimeline
  /// The lifetime of values that have no other.
  @usableFromInline let expiry: Expiry
  @usableFromInline let expiryOfValue: (@Sendable (Value) -> Expiry?)?
  /// Whether the age of every value is known.
  @usableFromInline let measuresAge: Bool

  init(
    table: EntryTable<Key, Value>, timeline: WallTimeline, expiry: Expiry, measuresAge: Bool = false,
    expiryOfValue: (@Sendable (Value) -> Expiry?)?
  ) {
    self.measuresAge = measuresAge
    self.table = table
    self.timeline = timeline
    clock = timeline.clock
    self.expiry = expiry
    self.expiryOfValue = expiryOfValue
    if !expiry.isNever { noteDeadline() }
    if expiry.idle != 0 { noteIdleTime() }
  }

  /// The time for look-ups: zero until a value can expire, so that no look-up reads the clock before.
  @inlinable
  func now() -> MonotonicTime { table.now(by: clock) }

  /// The time of the clock. Read here, so that the clock is not copied.
  @usableFromInline
  func clockTime() -> MonotonicTime { clock.now() }

  @usableFromInline
  func wallNow() -> WallTime { timeline.time(clock.wallTime(), now: clock.now()) }

  /// Returns the time of day for a record that is written now.
  ///
  /// The cache then never takes the record for one of the future, even if the clock is set back.
  @usableFromInline
  func wallTimeOfWrite() -> WallTime { timeline.timeOfWrite(clock.wallTime(), now: clock.now()) }

  /// Returns the latest time of day at which this cache may have written a record.
  func latestWriteTime() -> WallTime { timeline.latestTimeOfWrite(now: clock.now()) }

  /// Notes that a value can expire.
  @inlinable
  func noteDeadline() { table.hasDeadlines.store(true, ordering: .relaxed) }

  /// Notes that the lifetime of a value depends on its uses.
  @inlinable
  func noteIdleTime() { table.hasIdleTimes.store(true, ordering: .relaxed) }
}

extension EntryTable {
  /// The time for look-ups: zero until a value can expire.
  @inlinable
  func now(by clock: any CacheClock) -> MonotonicTime {
    hasDeadlines.load(ordering: .relaxed) ? clock.now() : MonotonicTime(nanoseconds: 0)
  }
}

// MARK: Records

extension Lifetimes {
  /// Whether only a load that accepts stale values may return the value of a record, or none.
  @usableFromInline
  func isExpired(_ metadata: RecordMetadata) -> Bool {
    guard metadata.expires != nil || metadata.idle != 0 else { return false }
    guard let timing = timing(of: metadata) else { return true }
    return !timing.freshness(at: clock.now()).isFresh
  }

  /// Whether the lifetime and the grace of a record have ended.
  func isGone(_ metadata: RecordMetadata) -> Bool { timing(of: metadata) == nil }

  /// Returns the lifetime in memory of a record's value; nil if its lifetime and its grace have ended.
  @usableFromInline
  func timing(of metadata: RecordMetadata) -> Timing? {
    if metadata.expires == nil, metadata.idle == 0, metadata.tags.isEmpty, !measuresAge {
      return .plain(until: .distantFuture)
    }
    let now = clock.now()
    let timing = Timing(
      of: metadata, wallNow: timeline.time(clock.wallTime(), now: now),
      latestWriteTime: timeline.latestTimeOfWrite(now: now), now: now, measuresAge: measuresAge)
    if let timing, !timing.isForever { noteDeadline() }
    if metadata.idle != 0 { noteIdleTime() }
    return timing
  }

  /// As ``timing(of:)``, for the record of a key. If a fetch of the key failed since the record was written, no refresh
  /// is due before the end of that pause.
  @usableFromInline
  func timing(of metadata: RecordMetadata, pausedFor key: HashedKey<Key>) -> Timing? {
    let timing = timing(of: metadata)
    guard case .detailed? = timing,
      let pause = table.retryPauses.pause(for: key, created: metadata.created, now: clock.now())
    else { return timing }
    return timing?.postponingRefresh(during: pause)
  }

  /// Whether the second tier should have the time of the last use of a record.
  func isUseDue(_ metadata: RecordMetadata) -> Bool {
    guard let unused = wallNow().nanoseconds(since: metadata.lastUsed ?? metadata.created) else { return false }
    return unused >= max(1, metadata.idle / 4)
  }
}
