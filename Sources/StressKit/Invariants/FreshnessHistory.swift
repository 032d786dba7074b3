/// Judges whether a value of one key was returned past its time. Pure: it is told of calls with their times, and answers.
///
/// A value's time begins when it is stored. When that was, nobody outside sees; but a value that a read has returned, or
/// whose write has returned, was stored by then. So a read that begins later than that by more than the value may live is
/// wrong, for certain.
struct FreshnessHistory<Version: Hashable & Sendable>: Sendable {
  /// The clocks of a cache are coarse: a value may live some ticks longer, and one that was closed and opened again, what
  /// the time of day was corrected by.
  static var tolerance: UInt64 { 40_000_000 }
  /// How many values are remembered.
  static var capacity: Int { 12 }

  private var stored: [(version: Version, by: UInt64)] = []

  /// A value is stored, at this time or before.
  mutating func note(_ version: Version, storedBy time: UInt64) {
    if let index = stored.lastIndex(where: { $0.version == version }) {
      stored[index].by = min(stored[index].by, time)
      return
    }
    if stored.count == Self.capacity { stored.removeFirst() }
    stored.append((version, time))
  }

  /// A read returned a value. Nil if it may; else what is wrong.
  ///
  /// - Parameter staleness: for how long after its lifetime the read accepts a value; its grace is the limit in any case.
  mutating func read(
    _ version: Version, from start: UInt64, to end: UInt64, lifetime: Lifetime, accepting staleness: UInt64
  ) -> String? {
    defer { note(version, storedBy: end) }
    guard lifetime.fresh != .max, let known = stored.last(where: { $0.version == version }) else { return nil }
    let life = lifetime.fresh + min(staleness, lifetime.grace)
    guard start > known.by, start - known.by > life + Self.tolerance else { return nil }
    return "\(version) was returned by a read that began \(start - known.by) ns after it was there, "
      + "and may be \(life) ns old, of which \(min(staleness, lifetime.grace)) stale"
  }
}
