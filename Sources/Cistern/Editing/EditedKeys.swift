import Locking
import Synchronization

/// The keys of a cache that unconfirmed edits lie over.
///
/// Storage around ``EditQueue``. Changed inside the critical section of the key's shard, so that what is here and what
/// memory shows change together; its own lock is taken inside that.
@usableFromInline
final class EditedKeys<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A key with edits that are not settled.
  @usableFromInline
  struct Edited: Sendable {
    var queue: EditQueue<Value>
    /// What the queue shows, computed outside all locks.
    @usableFromInline var shown: Value? = nil
    /// How long the confirmed value is good for.
    @usableFromInline var timing: Timing
  }

  private let edited = Guarded<[Key: Edited]>([:])
  @usableFromInline let count = Atomic<Int>(0)
  private let lastNumber = Atomic<UInt64>(0)

  init() {}

  /// One load; who begins an edit meanwhile is seen in the critical section.
  @inlinable
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  func makeNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

  @usableFromInline
  subscript(key: Key) -> Edited? { edited.withLock { $0[key] } }

  /// All keys that edits lie over. O(n) for n of these.
  var keys: [Key] { edited.withLock { Array($0.keys) } }

  /// Inside the key's critical section. Answers what was there, to be freed outside of it.
  @usableFromInline
  func set(_ new: Edited?, for key: Key) -> Edited? {
    edited.withLock { edited in
      let former = edited[key]
      edited[key] = new
      count.store(edited.count, ordering: .releasing)
      return former
    }
  }

  /// Inside the critical sections of all shards. Answers what was removed, to be freed outside of them. O(n) for n keys that
  /// edits lie over.
  @usableFromInline
  func removeAll(where isRemoved: (Key, Edited) -> Bool) -> [Edited] {
    edited.withLock { edited in
      let removed = edited.filter { isRemoved($0.key, $0.value) }
      for key in removed.keys { edited[key] = nil }
      count.store(edited.count, ordering: .releasing)
      return Array(removed.values)
    }
  }

  /// Inside the critical sections of all shards. Answers what was there, to be freed outside of them.
  @usableFromInline
  func removeAll() -> [Key: Edited] {
    edited.withLock { edited in
      let former = edited
      edited = [:]
      count.store(0, ordering: .releasing)
      return former
    }
  }
}
