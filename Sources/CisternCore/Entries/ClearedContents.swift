import Eviction

/// The removed contents of a cleared table.
///
/// ``releaseContents()`` destroys the contents at a chosen time, even if other references to this object exist.
@safe
@usableFromInline
final class ClearedContents<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable holds: one thread fills the object before it is shared. After that, only the single call of
  // `releaseContents()` and the deinitializer change it.
  @usableFromInline let parts: UnsafeMutablePointer<Part>
  /// The number of parts that are still initialized.
  @usableFromInline var count: Int

  /// The removed contents of one shard.
  @usableFromInline
  struct Part: ~Copyable {
    @usableFromInline var slots = SlotTable<Key, Value>()
    @usableFromInline var learned: (any Sendable)?

    @inlinable
    init() {}
  }

  /// Creates empty parts for this number of shards.
  @inlinable
  init(capacity: Int) {
    unsafe parts = .allocate(capacity: capacity)
    count = capacity
    for index in 0..<capacity { unsafe (parts + index).initialize(to: Part()) }
  }

  @inlinable
  deinit {
    releaseContents()
    unsafe parts.deallocate()
  }

  @inlinable
  func releaseContents() {
    // All parts are initialized by `init`, and `count` of them were not deinitialized since.
    unsafe parts.deinitialize(count: count)
    count = 0
  }

  /// Takes the contents of a shard and leaves the shard empty. Called under the shard's lock.
  ///
  /// - Parameters:
  ///   - shard: The shard.
  ///   - index: The index of the part, below the capacity.
  @inlinable
  func take(from shard: inout Shard<Key, Value>, as index: Int) {
    unsafe swap(&parts[index].slots, &shard.slots)
    shard.tableVersion += 1
    unsafe parts[index].learned = shard.policy.removeAll()
  }
}
