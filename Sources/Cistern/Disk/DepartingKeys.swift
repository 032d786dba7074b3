import Locking
import Synchronization

/// What was on disk of a key that left: what later removals of many have to be compared with, before its end is told.
struct DepartedRecord: Sendable {
  /// Which of the partition's epochs it was of.
  let epoch: UInt16
  /// The number of the invalidation that it was newer than.
  let era: UInt64
  let tags: [String]
}

/// The keys of a partition that left, and whose end has not been told yet. To whoever asks they are still there: what
/// is told of a key is then a sequence without a gap, whatever is written between its leaving and the telling.
final class DepartingKeys: Sendable {
  // Its lock is taken inside the staging area's, never the other way round.
  private let keys = Guarded<[[UInt8]: DepartedRecord]>([:])
  /// The number of keys, so that those who find none take no lock.
  private let count = Atomic<Int>(0)

  /// Notes that a key leaves.
  func insert(_ key: [UInt8], _ record: DepartedRecord) {
    keys.withLock { keys in
      keys[key] = record
      count.store(keys.count, ordering: .releasing)
    }
  }

  /// Notes that the key was written again, or that its end is told; answers what had left of it, if it was leaving.
  @discardableResult
  func remove(_ key: @autoclosure () -> [UInt8]) -> DepartedRecord? {
    guard count.load(ordering: .acquiring) > 0 else { return nil }
    let key = key()
    return keys.withLock { keys in
      defer { count.store(keys.count, ordering: .releasing) }
      return keys.removeValue(forKey: key)
    }
  }

  /// Notes that everything was removed.
  func removeAll() {
    // Freed outside the lock.
    _ = keys.withLock { keys in
      defer { keys = [:] }
      count.store(0, ordering: .releasing)
      return keys
    }
  }

  /// What left of a key whose end has not been told.
  func record(ofKey key: RawSpan) -> DepartedRecord? {
    guard count.load(ordering: .acquiring) > 0 else { return nil }
    let key = key.copiedBytes()
    return keys.withLock { $0[key] }
  }
}
