import Synchronization

/// What is known of the time of a value that has more than one deadline. Immutable but for the time of its last use.
@usableFromInline
final class Life: Sendable {
  /// When it stops being fresh.
  @usableFromInline let freshUntil: MonotonicTime
  /// From when on whoever asks has it fetched anew.
  @usableFromInline let refreshFrom: MonotonicTime
  /// When its grace ends.
  @usableFromInline let goneFrom: MonotonicTime
  /// Nanoseconds without a use after which it is gone; zero for no such limit.
  @usableFromInline let idle: UInt64
  /// By how much it was stale before the clock's zero: a record can be older than the clock.
  private let staleAtZero: UInt64
  /// The tags by which it can be removed.
  @usableFromInline let tags: [String]
  /// When it was last used, in nanoseconds. Written by hits, each under the lock of the value's shard.
  private let lastUse: Atomic<UInt64>
  /// The last use that the second tier knows of.
  private let lastUseOnDisk: Atomic<UInt64>

  @usableFromInline
  init(
    freshUntil: MonotonicTime, refreshFrom: MonotonicTime, goneFrom: MonotonicTime, idle: UInt64, tags: [String],
    lastUsed: MonotonicTime, lastUsedOnDisk: MonotonicTime, staleAtZero: UInt64 = 0
  ) {
    self.staleAtZero = staleAtZero
    self.freshUntil = freshUntil
    self.refreshFrom = refreshFrom
    self.goneFrom = goneFrom
    self.idle = idle
    self.tags = tags
    lastUse = Atomic(lastUsed.nanoseconds)
    lastUseOnDisk = Atomic(lastUsedOnDisk.nanoseconds)
  }

  @usableFromInline
  func freshness(at now: MonotonicTime) -> Freshness {
    if idle != 0, lastUsed.advanced(by: idle) <= now { return .gone }
    if now < freshUntil { return now < refreshFrom ? .fresh : .refreshDue }
    guard now < goneFrom else { return .gone }
    let (age, overflow) = (now.nanoseconds - freshUntil.nanoseconds).addingReportingOverflow(staleAtZero)
    return .stale(by: overflow ? .max : age, refreshDue: refreshFrom <= now)
  }

  /// When it was last used.
  var lastUsed: MonotonicTime { MonotonicTime(nanoseconds: lastUse.load(ordering: .relaxed)) }

  /// Notes a use.
  @usableFromInline
  func noteUse(at now: MonotonicTime) {
    if idle != 0 { lastUse.store(now.nanoseconds, ordering: .relaxed) }
  }

  /// Whether the second tier should hear of the last use: so that reads do not write, only when a quarter of the idle
  /// time has passed since it last did. True for one caller.
  func takeUseForDisk(at now: MonotonicTime) -> Bool {
    guard idle != 0 else { return false }
    let known = lastUseOnDisk.load(ordering: .relaxed)
    guard now.nanoseconds >= known, now.nanoseconds - known >= max(1, idle / 4) else { return false }
    return lastUseOnDisk.compareExchange(expected: known, desired: now.nanoseconds, ordering: .relaxed).exchanged
  }

  func postponingRefresh(until time: MonotonicTime) -> Life {
    Life(
      freshUntil: freshUntil, refreshFrom: max(refreshFrom, time), goneFrom: goneFrom, idle: idle, tags: tags,
      lastUsed: lastUsed, lastUsedOnDisk: MonotonicTime(nanoseconds: lastUseOnDisk.load(ordering: .relaxed)),
      staleAtZero: staleAtZero)
  }
}
