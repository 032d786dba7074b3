/// The points in time at which a value becomes due for a refresh, stale, and gone.
@usableFromInline
struct Deadlines: Sendable {
  /// The end of the lifetime.
  @usableFromInline let freshUntil: MonotonicTime
  /// The time from which a load triggers a refresh. Later than ``freshUntil`` only after a failed refresh, and then the
  /// end of the pause.
  ///
  /// The lowest bit of a pause's end is the opposite of ``RetryPause/permitsFallback``. A separate property would make
  /// every value with a grace larger.
  @usableFromInline private(set) var refreshFrom: MonotonicTime
  /// The end of the grace. Never earlier than ``freshUntil``.
  @usableFromInline let goneFrom: MonotonicTime
  /// The windows within the grace.
  @usableFromInline let windows: StaleWindows
  /// The staleness at the clock's zero, in nanoseconds. Not zero if a record's lifetime ended before the clock's
  /// zero.
  @usableFromInline let staleAtZero: UInt64

  /// Creates the deadlines of a value.
  ///
  /// - Parameters:
  ///   - freshUntil: The end of the lifetime.
  ///   - refreshSpan: The nanoseconds before the end of the lifetime in which a load triggers a refresh; zero for none.
  ///   - goneFrom: The end of the grace; nil for no grace.
  ///   - windows: The windows within the grace.
  ///   - staleAtZero: The staleness of the value at the clock's zero, in nanoseconds.
  @inlinable
  init(
    freshUntil: MonotonicTime, refreshSpan: UInt64 = 0, goneFrom: MonotonicTime? = nil,
    windows: StaleWindows = StaleWindows(), staleAtZero: UInt64 = 0
  ) {
    self.freshUntil = freshUntil
    refreshFrom = MonotonicTime(nanoseconds: freshUntil.nanoseconds - min(refreshSpan, freshUntil.nanoseconds))
    self.goneFrom = max(goneFrom ?? freshUntil, freshUntil)
    self.windows = windows
    self.staleAtZero = staleAtZero
  }

  /// Whether the value is fresh until one point in time, and gone afterwards.
  @inlinable
  var areOne: Bool { refreshFrom == freshUntil && goneFrom == freshUntil }

  /// Returns the state of the value at this time.
  func freshness(at now: MonotonicTime) -> Freshness {
    if now < freshUntil { return now < refreshFrom ? .fresh : .refreshDue }
    guard now < goneFrom else { return .gone }
    let (age, overflow) = (now.nanoseconds - freshUntil.nanoseconds).addingReportingOverflow(staleAtZero)
    let staleness = overflow ? .max : age
    var uses = windows.uses(staleBy: staleness)
    uses.insteadOfFetch = refreshFrom <= now || refreshFrom.nanoseconds & 1 == 0
    return .stale(by: staleness, refreshDue: refreshFrom <= now, uses: uses)
  }

  /// Returns the same deadlines without a refresh during a pause. A pause that ends before a refresh is due has no
  /// effect.
  func postponingRefresh(during pause: RetryPause) -> Deadlines {
    guard refreshFrom <= pause.end, pause.end.nanoseconds > 0 else { return self }
    var deadlines = self
    // The end is at most a nanosecond earlier, and never later.
    let end = pause.end.nanoseconds
    deadlines.refreshFrom = MonotonicTime(nanoseconds: pause.permitsFallback ? end & ~1 : (end - 1) | 1)
    return deadlines
  }
}
