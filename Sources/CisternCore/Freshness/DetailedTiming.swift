/// The timing of a value that has more than one deadline, an idle limit or tags. Immutable except for ``uses``.
@usableFromInline
final class DetailedTiming: Sendable {
  /// The end of the lifetime.
  @usableFromInline let freshUntil: MonotonicTime
  /// The time from which a load triggers a refresh.
  @usableFromInline let refreshFrom: MonotonicTime
  /// The end of the grace.
  @usableFromInline let goneFrom: MonotonicTime
  /// The windows within the grace.
  private let windows: StaleWindows
  /// The last access time of a value with a time to idle; nil without one.
  @usableFromInline let uses: LastAccess?
  /// The staleness at the clock's zero, in nanoseconds. Not zero if a record's lifetime ended before the clock's
  /// zero.
  private let staleAtZero: UInt64
  /// The tags by which the value can be removed.
  @usableFromInline let tags: [String]
  /// The time at which the value was stored, in nanoseconds of the clock. Negative if that was before the clock's zero.
  private let created: Int64

  @usableFromInline
  init(
    freshUntil: MonotonicTime, refreshFrom: MonotonicTime, goneFrom: MonotonicTime, uses: LastAccess?, tags: [String],
    staleAtZero: UInt64 = 0, created: Int64 = 0, windows: StaleWindows = StaleWindows()
  ) {
    self.windows = windows
    self.staleAtZero = staleAtZero
    self.freshUntil = freshUntil
    self.refreshFrom = refreshFrom
    self.goneFrom = goneFrom
    self.uses = uses
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
    if let uses, uses.end <= now { return .gone }
    if now < freshUntil { return now < refreshFrom ? .fresh : .refreshDue }
    guard now < goneFrom else { return .gone }
    let (age, overflow) = (now.nanoseconds - freshUntil.nanoseconds).addingReportingOverflow(staleAtZero)
    let staleness = overflow ? .max : age
    return .stale(by: staleness, refreshDue: refreshFrom <= now, uses: windows.uses(staleBy: staleness))
  }

  /// Records a use.
  @usableFromInline
  func noteUse(at now: MonotonicTime) {
    uses?.note(at: now)
  }

  /// Returns the uses if this use must be written to the second tier. Returns them to one caller only.
  @usableFromInline
  func takeAccessForDisk(at now: MonotonicTime) -> LastAccess? {
    guard let uses, uses.takeForDisk(at: now) else { return nil }
    return uses
  }

  /// Returns a copy that is not due for a refresh before `time`.
  func postponingRefresh(until time: MonotonicTime) -> DetailedTiming {
    DetailedTiming(
      freshUntil: freshUntil, refreshFrom: max(refreshFrom, time), goneFrom: goneFrom, uses: uses, tags: tags,
      staleAtZero: staleAtZero, created: created, windows: windows)
  }
}
