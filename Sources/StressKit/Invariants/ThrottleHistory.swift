/// Judges whether an origin was asked again too soon after it failed. Pure.
///
/// After a failed fetch, a key whose value is still in grace is left alone for a while: whoever accepts a stale value gets
/// that one, and nothing is fetched.
struct ThrottleHistory: Sendable {
  /// The clocks of a cache are coarse.
  static let tolerance: UInt64 = 20_000_000

  private let interval: UInt64
  private let lifetime: Lifetime
  private var failedAt: UInt64?
  /// Until then, whatever is stored for the key is in grace for certain.
  private var graceUntil: UInt64 = 0
  /// Rises with every write: a fetch that was asked for before one may have lost its entry to it.
  private(set) var writes = 0

  init(interval: UInt64, lifetime: Lifetime) {
    self.interval = interval
    self.lifetime = lifetime
  }

  /// A fetch has brought a value, that began at `start` and was asked for after so many writes.
  mutating func fetched(startedAt start: UInt64, after writes: Int) {
    guard writes == self.writes else { return }
    failedAt = nil
    graceUntil = start + lifetime.fresh + lifetime.grace
  }

  /// A fetch is about to fail its flight, and was asked for after so many writes.
  mutating func failed(at time: UInt64, after writes: Int) {
    if writes == self.writes { failedAt = time }
  }

  /// The key is about to be written or removed, or has just been: what was known is void.
  mutating func written() {
    writes += 1
    failedAt = nil
    graceUntil = 0
  }

  /// A fetch begins. Nil if it may; else what is wrong.
  ///
  /// - Parameter acceptsStale: whether the load that asked for it would take a stale value instead.
  func begins(at time: UInt64, acceptsStale: Bool) -> String? {
    guard acceptsStale, let failedAt, time + Self.tolerance < graceUntil,
      time + Self.tolerance < failedAt + interval, time > failedAt
    else { return nil }
    return
      "the origin was asked again \(time - failedAt) ns after it had failed, and was to be left alone for \(interval)"
  }
}
