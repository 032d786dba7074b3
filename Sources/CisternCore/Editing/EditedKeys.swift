import Locking
import Synchronization

/// The keys of a cache with unconfirmed edits.
///
/// This class stores an ``EditQueue`` for each key. Changes are made inside the critical section of the key's shard,
/// so that the edits and the shown value change together. The lock of this class is acquired inside that section.
@usableFromInline
final class EditedKeys<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A key with pending edits.
  @usableFromInline
  struct Edited: Sendable {
    var queue: EditQueue<Value>
    /// The value that the queue shows, which was computed outside all locks.
    @usableFromInline var shown: Value? = nil
    /// The lifetime of the confirmed value.
    @usableFromInline var timing: Timing
    /// The lifetime of the shown value: it is fresh until the edits are confirmed or withdrawn.
    ///
    /// It has the tags of the confirmed value, so that a removal by such a tag removes both. Its age is the time since
    /// the last step of the edits.
    @usableFromInline private(set) var shownTiming = Timing.plain(until: .distantFuture)

    init(queue: EditQueue<Value>, timing: Timing) {
      self.queue = queue
      self.timing = timing
    }

    /// Begins the lifetime of the shown value.
    mutating func beginShowing(at now: MonotonicTime, measuresAge: Bool) {
      shownTiming = Timing(
        Deadlines(freshUntil: .distantFuture), tags: timing.tags, age: ValueAge(isNeeded: measuresAge), now: now)
    }
  }

  /// Edits that were replaced or removed.
  @usableFromInline
  struct Former: Sendable {
    @usableFromInline let edited: Edited
    /// The removed copy of the key, whose deinitializer is the user's code; nil if later edits have the copy.
    let key: Key?
  }

  private let edited = Guarded<[Key: Edited]>([:])
  @usableFromInline let count = Atomic<Int>(0)
  private let lastNumber = Atomic<UInt64>(0)

  init() {}

  /// Whether no key has edits. Reads one atomic counter; the critical section of a key detects an edit that begins
  /// concurrently.
  @inlinable
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  func makeNumber() -> EditNumber { EditNumber(number: lastNumber.add(1, ordering: .relaxed).newValue) }

  @usableFromInline
  subscript(key: Key) -> Edited? { edited.withLock { $0[key] } }

  /// Returns whether the edits of a key show a value.
  func showsValue(of key: Key) -> Bool { edited.withLock { $0[key]?.shown != nil } }

  /// Returns whether a key has edits.
  func contains(_ key: Key) -> Bool { edited.withLock { $0.index(forKey: key) != nil } }

  /// The keys with edits. O(n) for n keys with edits.
  var keys: [Key] { edited.withLock { Array($0.keys) } }

  /// The values that edits show, with their tags. O(n) for n keys with edits.
  var allShown: [(key: Key, value: Value, tags: [String])] {
    edited.withLock { edited in
      edited.compactMap { key, edited in edited.shown.map { (key, $0, edited.timing.tags) } }
    }
  }

  /// Replaces the edits of a key. Must be called inside the key's critical section.
  ///
  /// - Returns: The former edits, which the caller must release outside that section.
  @usableFromInline
  func set(_ new: Edited?, for key: Key) -> Former? {
    edited.withLock { edited -> Former? in
      defer { count.store(edited.count, ordering: .releasing) }
      if let new {
        let former = edited[key]
        edited[key] = new
        return former.map { Former(edited: $0, key: nil) }
      }
      guard let index = edited.index(forKey: key) else { return nil }
      let removed = edited.remove(at: index)
      return Former(edited: removed.value, key: removed.key)
    }
  }

  /// Removes the edits of all keys that match. Must be called inside the critical sections of all shards.
  ///
  /// - Returns: The removed edits, which the caller must release outside these sections.
  /// - Complexity: O(n) for n keys with edits.
  @usableFromInline
  func removeAll(where isRemoved: (Key, Edited) -> Bool) -> [Key: Edited] {
    edited.withLock { edited in
      let removed = edited.filter { isRemoved($0.key, $0.value) }
      for key in removed.keys { edited[key] = nil }
      count.store(edited.count, ordering: .releasing)
      return removed
    }
  }

  /// Removes all edits. Must be called inside the critical sections of all shards.
  ///
  /// - Returns: The former edits, which the caller must release outside these sections.
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
