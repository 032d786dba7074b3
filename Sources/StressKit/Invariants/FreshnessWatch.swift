import Locking

/// The freshness histories of all keys.
///
/// No read may return a value after its grace. A read that accepts only fresh values must not return one after its
/// lifetime.
final class FreshnessWatch: Sendable {
  private final class Shard: Sendable {
    let histories = Guarded<[Int: FreshnessHistory<Version>]>([:])
  }

  private static let shardCount = 64

  private let shards = (0..<shardCount).map { _ in Shard() }
  private let lifetimes: Lifetimes
  private let violations: ViolationLog

  init(lifetimes: Lifetimes, violations: ViolationLog) {
    self.lifetimes = lifetimes
    self.violations = violations
  }

  /// Records a write that has returned.
  func wrote(_ key: Int, _ version: Version, by time: UInt64) {
    guard lifetimes[key].fresh != .max else { return }
    shards[key % Self.shardCount].histories.withLock {
      $0[key, default: FreshnessHistory()].note(version, storedBy: time)
    }
  }

  /// Checks a read that returned a value.
  func read(_ key: Int, name: String, _ version: Version, in window: ReadWindow) {
    let lifetime = lifetimes[key]
    guard lifetime.fresh != .max else { return }
    let wrong = shards[key % Self.shardCount].histories.withLock {
      $0[key, default: FreshnessHistory()].read(
        version, from: window.start, to: window.end, lifetime: lifetime, accepting: window.staleness)
    }
    if let wrong { violations.report(.outlived, "\(name): \(wrong)") }
  }
}
