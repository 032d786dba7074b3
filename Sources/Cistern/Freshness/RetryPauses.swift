import Locking
import Synchronization

/// A time in which a key is not fetched again, because a fetch of it failed or took too long.
@usableFromInline
struct RetryPause: Sendable {
  /// When the key may be fetched again.
  @usableFromInline let end: MonotonicTime
  /// When the fetch failed. A record that was written later is not concerned.
  let start: WallTime

  init(end: MonotonicTime, start: WallTime) {
    self.end = end
    self.start = start
  }
}

/// The pauses of keys whose older value the second tier has.
///
/// Memory keeps the pause of a key with its value. If memory evicts the value, the pause must outlive it: else every load that
/// reads the record again would fetch again. Bounded: of many pauses, those that end first are forgotten first.
@usableFromInline
final class RetryPauses: Sendable {
  static let limit = 16_384

  private let pauses = Guarded<[UInt64: RetryPause]>([:])
  /// Whether a pause was ever added: until then no reader takes the lock.
  private let wasUsed = Atomic<Bool>(false)

  init() {}

  /// Adds the pause of the key with this hash, which replaces an earlier one. O(1), amortised.
  @usableFromInline
  func add(_ pause: RetryPause, for hash: UInt64) {
    wasUsed.store(true, ordering: .relaxed)
    pauses.withLock { pauses in
      if pauses.count >= Self.limit { Self.makeRoom(in: &pauses) }
      pauses[hash] = pause
    }
  }

  /// Whether no key has a pause, as far as this can be told without a lock.
  @usableFromInline
  var isEmpty: Bool { !wasUsed.load(ordering: .relaxed) }

  /// When the key with this hash may be fetched again, if its record was created at this time; nil for at once.
  func end(for hash: UInt64, created: WallTime, now: MonotonicTime) -> MonotonicTime? {
    pauses.withLock { pauses in
      guard let pause = pauses[hash] else { return nil }
      guard pause.end > now, created < pause.start else {
        pauses[hash] = nil
        return nil
      }
      return pause.end
    }
  }

  /// The number of pauses, for tests.
  var count: Int { pauses.withLock { $0.count } }

  /// Forgets the quarter that ends first.
  private static func makeRoom(in pauses: inout [UInt64: RetryPause]) {
    for (hash, _) in pauses.sorted(by: { $0.value.end < $1.value.end }).prefix(limit / 4) { pauses[hash] = nil }
  }
}
