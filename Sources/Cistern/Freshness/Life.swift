/// What is known of the time of a value that has more than one deadline. Immutable but for its uses.
@usableFromInline
final class Life: Sendable {
  /// When it stops being fresh.
  @usableFromInline let freshUntil: MonotonicTime
  /// From when on whoever asks has it fetched anew.
  @usableFromInline let refreshFrom: MonotonicTime
  /// When its grace ends.
  @usableFromInline let goneFrom: MonotonicTime
  /// Its uses, where it is gone once there are none; else nil.
  @usableFromInline let uses: Uses?
  /// By how much it was stale before the clock's zero: a record can be older than the clock.
  private let staleAtZero: UInt64
  /// The tags by which it can be removed.
  @usableFromInline let tags: [String]

  @usableFromInline
  init(
    freshUntil: MonotonicTime, refreshFrom: MonotonicTime, goneFrom: MonotonicTime, uses: Uses?, tags: [String],
    staleAtZero: UInt64 = 0
  ) {
    self.staleAtZero = staleAtZero
    self.freshUntil = freshUntil
    self.refreshFrom = refreshFrom
    self.goneFrom = goneFrom
    self.uses = uses
    self.tags = tags
  }

  @usableFromInline
  func freshness(at now: MonotonicTime) -> Freshness {
    if let uses, uses.end <= now { return .gone }
    if now < freshUntil { return now < refreshFrom ? .fresh : .refreshDue }
    guard now < goneFrom else { return .gone }
    let (age, overflow) = (now.nanoseconds - freshUntil.nanoseconds).addingReportingOverflow(staleAtZero)
    return .stale(by: overflow ? .max : age, refreshDue: refreshFrom <= now)
  }

  /// Notes a use.
  @usableFromInline
  func noteUse(at now: MonotonicTime) {
    uses?.note(at: now)
  }

  /// Its uses, where the second tier should hear of one now. For one caller.
  @usableFromInline
  func takeUseForDisk(at now: MonotonicTime) -> Uses? {
    guard let uses, uses.takeForDisk(at: now) else { return nil }
    return uses
  }

  func postponingRefresh(until time: MonotonicTime) -> Life {
    Life(
      freshUntil: freshUntil, refreshFrom: max(refreshFrom, time), goneFrom: goneFrom, uses: uses, tags: tags,
      staleAtZero: staleAtZero)
  }
}
