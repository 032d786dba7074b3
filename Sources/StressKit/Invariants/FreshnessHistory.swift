/// The check that no value of one key is returned after its time. Pure: the caller passes the times of all calls.
///
/// The time of a value begins when it is stored. This moment is not visible from outside. However, a value is
/// certainly stored when its write, or a read of it, has returned. A later read is certainly wrong if it begins
/// more than the allowed time after that.
struct FreshnessHistory<Version: Hashable & Sendable>: Sendable {
  /// The tolerance in nanoseconds. The clock of a cache is coarse, so a value can live some ticks longer. After a
  /// reopening, corrections of the time of day also extend its life.
  static var tolerance: UInt64 { 40_000_000 }
  /// The maximum number of values in the history.
  static var capacity: Int { 12 }

  private var stored: [(version: Version, by: UInt64)] = []

  /// Records that a value was stored at this time, or earlier.
  mutating func note(_ version: Version, storedBy time: UInt64) {
    if let index = stored.lastIndex(where: { $0.version == version }) {
      stored[index].by = min(stored[index].by, time)
      return
    }
    if stored.count == Self.capacity { stored.removeFirst() }
    stored.append((version, time))
  }

  /// Records a read that returned a value.
  ///
  /// - Parameters:
  ///   - version: The version of the value.
  ///   - start: The start of the read.
  ///   - end: The end of the read.
  ///   - lifetime: The lifetime of the value.
  ///   - staleness: The time in nanoseconds after the lifetime during which the read accepts a value. The grace of the
  ///     value is an upper limit.
  /// - Returns: The contradiction; nil for none.
  mutating func read(
    _ version: Version, from start: UInt64, to end: UInt64, lifetime: Lifetime, accepting staleness: UInt64
  ) -> String? {
    defer { note(version, storedBy: end) }
    guard lifetime.fresh != .max, let known = stored.last(where: { $0.version == version }) else { return nil }
    let life = lifetime.fresh + min(staleness, lifetime.grace)
    guard start > known.by, start - known.by > life + Self.tolerance else { return nil }
    return "a read returned \(version), but began \(start - known.by) ns after the value was stored; "
      + "its maximum age is \(life) ns, of which it is stale for \(min(staleness, lifetime.grace)) ns"
  }
}
