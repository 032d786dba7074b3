/// The check that the origin is not asked again too soon after a failure. Pure.
///
/// After a failed fetch, the origin is not asked for a key with a value in its grace, until the retry interval has
/// passed. A load that accepts a stale value receives this value instead.
struct ThrottleHistory: Sendable {
  /// The tolerance in nanoseconds, because the clock of a cache is coarse.
  static let tolerance: UInt64 = 20_000_000

  private let interval: UInt64
  private let lifetime: Lifetime
  private var failedAt: UInt64?
  /// Every value that is stored for the key is certainly in its grace until this time.
  private var graceUntil: UInt64 = 0
  /// The number of writes. If it changes after the call of a fetch's leader, the fetch may have lost its entry.
  private(set) var writes = 0

  init(interval: UInt64, lifetime: Lifetime) {
    self.interval = interval
    self.lifetime = lifetime
  }

  /// Records a fetched value. The fetch began at `start`, and its leader was called after this number of writes.
  mutating func fetched(startedAt start: UInt64, after writes: Int) {
    guard writes == self.writes else { return }
    failedAt = nil
    graceUntil = start + lifetime.fresh + lifetime.grace
  }

  /// Records that a fetch is about to fail its flight. Its leader was called after this number of writes.
  mutating func failed(at time: UInt64, after writes: Int) {
    if writes == self.writes { failedAt = time }
  }

  /// Resets the history. Call it before and after each write or removal of the key.
  mutating func written() {
    writes += 1
    failedAt = nil
    graceUntil = 0
  }

  /// Checks the start of a fetch.
  ///
  /// - Parameters:
  ///   - time: The time of the start.
  ///   - acceptsStale: Whether the load that leads the fetch accepts a stale value instead.
  /// - Returns: The contradiction; nil for none.
  func begins(at time: UInt64, acceptsStale: Bool) -> String? {
    guard acceptsStale, let failedAt, time + Self.tolerance < graceUntil,
      time + Self.tolerance < failedAt + interval, time > failedAt
    else { return nil }
    return
      "the origin was asked again \(time - failedAt) ns after a failure, but the retry interval is \(interval) ns"
  }
}
