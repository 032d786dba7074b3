import Synchronization

/// The last access time of a value with a time to idle. Memory holds one object for each such value, so the object
/// also identifies the value.
@usableFromInline
final class LastAccess: Sendable {
  /// The time to idle in nanoseconds, after which an unused value is gone.
  let idle: UInt64
  /// The last use in nanoseconds. Hits write to it.
  private let last: Atomic<UInt64>
  /// The last use that the second tier has recorded.
  private let lastOnDisk: Atomic<UInt64>

  @usableFromInline
  init(idle: UInt64, last: MonotonicTime, lastOnDisk: MonotonicTime) {
    self.idle = idle
    self.last = Atomic(last.nanoseconds)
    self.lastOnDisk = Atomic(lastOnDisk.nanoseconds)
  }

  /// The time when the value is gone if no further use occurs.
  var end: MonotonicTime { MonotonicTime(nanoseconds: last.load(ordering: .relaxed)).advanced(by: idle) }

  /// Records a use. A look-up can have an earlier time than the value: zero if it began before a value could expire.
  func note(at now: MonotonicTime) {
    guard now.nanoseconds > last.load(ordering: .relaxed) else { return }
    last.max(now.nanoseconds, ordering: .relaxed)
  }

  /// Returns whether this use must be written to the second tier. Returns true to one caller, and only when a
  /// quarter of the idle time has passed since the last such write. Reads therefore rarely write.
  func takeForDisk(at now: MonotonicTime) -> Bool {
    let known = lastOnDisk.load(ordering: .relaxed)
    guard now.nanoseconds >= known, now.nanoseconds - known >= max(1, idle / 4) else { return false }
    return lastOnDisk.compareExchange(expected: known, desired: now.nanoseconds, ordering: .relaxed).exchanged
  }
}
