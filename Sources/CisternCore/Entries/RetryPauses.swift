import Locking
import Synchronization

/// The pauses of keys whose older value is in the second tier, and those after failed refreshes.
///
/// Memory keeps the pause of a key with its value. The pause must outlive the eviction of the value from memory.
/// Otherwise, every load that reads the record again would fetch again. The number of pauses is bounded; those that
/// end first are dropped first. A pause keeps its key until then.
@usableFromInline
final class RetryPauses<Key: Hashable & Sendable>: Sendable {
  static var limit: Int { 16_384 }

  /// The pause of a key that ends last, and the end of the last pause that a failed refresh began.
  ///
  /// A failed load pauses the refreshes of an older value alone. It must not shorten the pause of requested refreshes.
  private struct KeptPause {
    var pause: RetryPause
    var refreshEnd = MonotonicTime(nanoseconds: 0)

    var end: MonotonicTime { max(pause.end, refreshEnd) }

    /// Adds a pause. The pause of a fetch that the circuit breaker rejected can end before an earlier one.
    mutating func add(_ other: RetryPause, ofRefresh isOfRefresh: Bool) {
      if other.end >= pause.end { pause = other }
      if isOfRefresh { refreshEnd = max(refreshEnd, other.end) }
    }
  }

  private let pauses = Guarded<[HashedKey<Key>: KeptPause]>([:])
  /// Whether a pause was ever added. Until then, no reader acquires the lock.
  private let wasUsed = Atomic<Bool>(false)

  init() {}

  /// Adds the pause of a key, and replaces an earlier one that does not end later.
  ///
  /// - Parameters:
  ///   - pause: The pause.
  ///   - key: The key.
  ///   - isOfRefresh: Whether a refresh failed, so that no requested refresh begins during the pause.
  /// - Returns: The keys whose pauses were dropped. The caller destroys them outside all locks.
  /// - Complexity: O(1), amortized.
  @usableFromInline
  @discardableResult
  func add(_ pause: RetryPause, for key: HashedKey<Key>, ofRefresh isOfRefresh: Bool) -> [HashedKey<Key>] {
    wasUsed.store(true, ordering: .relaxed)
    return pauses.withLock { pauses in
      var kept = pauses[key] ?? KeptPause(pause: pause)
      let dropped = pauses.count >= Self.limit ? Self.makeRoom(in: &pauses) : []
      kept.add(pause, ofRefresh: isOfRefresh)
      pauses[key] = kept
      return dropped
    }
  }

  /// Whether no pause was ever added. Takes no lock.
  @usableFromInline
  var isEmpty: Bool { !wasUsed.load(ordering: .relaxed) }

  /// Returns the pause of a key; nil if the key may be fetched at once.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - created: The time when the key's record was written.
  ///   - now: The current time.
  /// - Returns: The pause; nil without one.
  func pause(for key: HashedKey<Key>, created: WallTime, now: MonotonicTime) -> RetryPause? {
    pauses.withLock { pauses in
      // A pause that has ended stays: the caller can be in a transaction, where no key may be destroyed.
      guard let pause = pauses[key]?.pause, pause.end > now else { return nil }
      // The pause stays for explicit refreshes, which it concerns even after a write of the key.
      return created < pause.start ? pause : nil
    }
  }

  /// Returns whether a pause after a failed refresh holds for a key.
  func holdsAfterRefresh(of key: HashedKey<Key>, at now: MonotonicTime) -> Bool {
    pauses.withLock { $0[key].map { $0.refreshEnd > now } ?? false }
  }

  /// Returns whether a pause of any kind holds for a key.
  func holds(for key: HashedKey<Key>, at now: MonotonicTime) -> Bool {
    pauses.withLock { $0[key].map { $0.end > now } ?? false }
  }

  /// The number of pauses, for tests.
  var count: Int { pauses.withLock { $0.count } }

  /// Removes the quarter of the pauses that ends first. Returns their keys.
  private static func makeRoom(in pauses: inout [HashedKey<Key>: KeptPause]) -> [HashedKey<Key>] {
    let dropped = pauses.sorted { $0.value.end < $1.value.end }.prefix(limit / 4).map(\.key)
    for key in dropped { pauses[key] = nil }
    return dropped
  }
}
