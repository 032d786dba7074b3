/// The timing of a value that has more than one deadline, an idle limit or tags. Immutable except for ``lastAccess``.
@usableFromInline
final class DetailedTiming: Sendable {
  @usableFromInline let deadlines: Deadlines
  /// The last access time of a value with a time to idle; nil without one.
  @usableFromInline let lastAccess: LastAccess?
  /// The tags by which the value can be removed.
  @usableFromInline let tags: [String]
  /// The time at which the value was stored, in nanoseconds of the clock. Negative if that was before the clock's zero.
  private let created: Int64

  @usableFromInline
  init(_ deadlines: Deadlines, lastAccess: LastAccess?, tags: [String], created: Int64) {
    self.deadlines = deadlines
    self.lastAccess = lastAccess
    self.tags = tags
    self.created = created
  }

  /// Returns the nanoseconds since the value was stored.
  func age(at now: MonotonicTime) -> UInt64 {
    let (age, overflow) = Int64(clamping: now.nanoseconds).subtractingReportingOverflow(created)
    return overflow ? .max : UInt64(max(0, age))
  }

  @usableFromInline
  func freshness(at now: MonotonicTime) -> Freshness {
    if let lastAccess, lastAccess.end <= now { return .gone }
    return deadlines.freshness(at: now)
  }

  /// Records a use.
  @usableFromInline
  func noteUse(at now: MonotonicTime) {
    lastAccess?.note(at: now)
  }

  /// Returns the last access if this use must be written to the second tier. Only one caller gets it.
  @usableFromInline
  func takeAccessForDisk(at now: MonotonicTime) -> LastAccess? {
    guard let lastAccess, lastAccess.takeForDisk(at: now) else { return nil }
    return lastAccess
  }

  /// Returns a copy that is not due for a refresh during a pause.
  func postponingRefresh(during pause: RetryPause) -> DetailedTiming {
    DetailedTiming(deadlines.postponingRefresh(during: pause), lastAccess: lastAccess, tags: tags, created: created)
  }
}
