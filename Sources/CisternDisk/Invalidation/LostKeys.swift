import CisternCore
import Locking
import Synchronization

/// The keys of a partition that were lost, and whose loss is not acknowledged yet.
///
/// Callers still see these keys as present. Observers therefore see the changes of a key without a gap, even if the
/// key is written between its loss and the acknowledgment.
final class LostKeys: Sendable {
  // Lock order: the staging area's lock before this lock, never the reverse.
  private let keys = Guarded<[[UInt8]: LostRecord]>([:])
  /// The number of keys. A caller that reads zero takes no lock.
  private let count = Atomic<Int>(0)

  /// Whether no key is lost.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// All lost keys.
  var all: [[UInt8]] { isEmpty ? [] : keys.withLock { Array($0.keys) } }

  /// Adds a lost key.
  func insert(_ key: [UInt8], _ record: LostRecord) {
    keys.withLock { keys in
      keys[key] = record
      count.store(keys.count, ordering: .releasing)
    }
  }

  /// Removes a key, because it was written again or its loss is acknowledged.
  ///
  /// Returns the lost record, or nil if the key was not lost.
  @discardableResult
  func remove(_ key: @autoclosure () -> [UInt8]) -> LostRecord? {
    guard count.load(ordering: .acquiring) > 0 else { return nil }
    let key = key()
    return keys.withLock { keys in
      defer { count.store(keys.count, ordering: .releasing) }
      return keys.removeValue(forKey: key)
    }
  }

  /// Removes all keys, because every record of the partition was removed. The caller frees them outside its lock.
  func removeAll() -> [[UInt8]: LostRecord] {
    keys.withLock { keys in
      defer { keys = [:] }
      count.store(0, ordering: .releasing)
      return keys
    }
  }

  /// Returns the lost record of a key, or nil if the key has none.
  func record(ofKey key: RawSpan) -> LostRecord? {
    guard count.load(ordering: .acquiring) > 0 else { return nil }
    let key = key.copiedBytes()
    return keys.withLock { $0[key] }
  }
}
