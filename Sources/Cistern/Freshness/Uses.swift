import Synchronization

/// When a value that is gone once nobody uses it was last used. One object for as long as memory holds the value, so that
/// it tells the value from others, too.
@usableFromInline
final class Uses: Sendable {
  /// Nanoseconds without a use after which the value is gone.
  private let idle: UInt64
  /// In nanoseconds. Written by hits.
  private let last: Atomic<UInt64>
  /// The last use that the second tier knows of.
  private let lastOnDisk: Atomic<UInt64>

  @usableFromInline
  init(idle: UInt64, last: MonotonicTime, lastOnDisk: MonotonicTime) {
    self.idle = idle
    self.last = Atomic(last.nanoseconds)
    self.lastOnDisk = Atomic(lastOnDisk.nanoseconds)
  }

  /// When the value is gone, if nobody uses it until then.
  var end: MonotonicTime { MonotonicTime(nanoseconds: last.load(ordering: .relaxed)).advanced(by: idle) }

  func note(at now: MonotonicTime) {
    last.store(now.nanoseconds, ordering: .relaxed)
  }

  /// Whether the second tier should hear of a use now: so that reads do not write, only when a quarter of the idle time
  /// has passed since it last did. True for one caller.
  func takeForDisk(at now: MonotonicTime) -> Bool {
    let known = lastOnDisk.load(ordering: .relaxed)
    guard now.nanoseconds >= known, now.nanoseconds - known >= max(1, idle / 4) else { return false }
    return lastOnDisk.compareExchange(expected: known, desired: now.nanoseconds, ordering: .relaxed).exchanged
  }
}
