import Locking
import Synchronization

/// The keys of a partition that left, and whose end has not been told yet. To whoever asks they are still there: what
/// is told of a key is then a sequence without a gap, whatever is written between its leaving and the telling.
final class DepartingKeys: Sendable {
  // Its lock is taken inside the staging area's, never the other way round.
  private let keys = Guarded<Set<[UInt8]>>([])
  /// The number of keys, so that those who find none take no lock.
  private let count = Atomic<Int>(0)

  /// Notes that a key leaves.
  func insert(_ key: [UInt8]) {
    keys.withLock { keys in
      keys.insert(key)
      count.store(keys.count, ordering: .releasing)
    }
  }

  /// Notes that the key was written again, or that its end is told; whether it was leaving.
  @discardableResult
  func remove(_ key: @autoclosure () -> [UInt8]) -> Bool {
    guard count.load(ordering: .acquiring) > 0 else { return false }
    let key = key()
    return keys.withLock { keys in
      defer { count.store(keys.count, ordering: .releasing) }
      return keys.remove(key) != nil
    }
  }

  /// Notes that everything was removed.
  func removeAll() {
    keys.withLock { keys in
      keys = []
      count.store(0, ordering: .releasing)
    }
  }

  /// Whether a key left and its end has not been told.
  func contains(_ key: RawSpan) -> Bool {
    guard count.load(ordering: .acquiring) > 0 else { return false }
    let key = key.copiedBytes()
    return keys.withLock { $0.contains(key) }
  }
}
