import Locking

/// The shards of a table: a power of two of them, each behind its lock, side by side in memory.
///
/// Not an array of objects: reaching a shard through one would count references, which two threads would fight over.
@safe
@usableFromInline
struct ShardArray<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  // Sendable holds: the pointer never changes, what it points to lives until deinit, and each shard behind it is
  // reached only through its lock.
  @usableFromInline let shards: UnsafeMutablePointer<Padded>
  /// The number of shards.
  @usableFromInline let count: Int
  @usableFromInline let shift: UInt64

  /// A shard, and room behind it that keeps the next one's lock out of its line of memory.
  @usableFromInline
  struct Padded: ~Copyable {
    @usableFromInline let shard: Guarded<Shard<Key, Value>>
    @usableFromInline let padding = InlineArray<8, UInt64>(repeating: 0)

    init(policy: EvictionPolicyKind) {
      shard = Guarded(Shard(policy: policy.makePolicy()))
    }
  }

  init(count: Int, policy: EvictionPolicyKind) {
    precondition(count > 0 && count & (count - 1) == 0, "the number of shards is a power of two")
    self.count = count
    shift = UInt64(64 - count.trailingZeroBitCount)
    unsafe shards = .allocate(capacity: count)
    for index in 0..<count { unsafe shards.advanced(by: index).initialize(to: Padded(policy: policy)) }
  }

  deinit {
    unsafe shards.deinitialize(count: count)
    unsafe shards.deallocate()
  }

  /// Runs `body` in the critical section of a hash's shard.
  @inlinable
  borrowing func withShard<Result>(of hash: UInt64, _ body: (inout Shard<Key, Value>) -> Result) -> Result {
    withShard(at: index(of: hash), body)
  }

  /// Runs `body` in the critical section of a shard.
  @inlinable
  borrowing func withShard<Result>(at index: Int, _ body: (inout Shard<Key, Value>) -> Result) -> Result {
    // The result and what the body reaches may be of any region: a shard's contents are only Sendable values.
    unsafe shards[index].shard.withLock { shard in
      nonisolated(unsafe) let result = body(&shard)
      return unsafe result
    }
  }

  @inlinable
  borrowing func index(of hash: UInt64) -> Int {
    // The high bits; the low ones find the slot. A shift by 64, for one shard, gives 0.
    Int(truncatingIfNeeded: hash >> shift)
  }

  /// Runs `body` in the critical sections of all shards at once, entered in order: nothing else ever holds two.
  borrowing func withAllShards<Result>(
    from index: Int = 0, each prepare: (inout Shard<Key, Value>) -> Void, _ body: () -> Result
  ) -> Result {
    guard index < count else { return body() }
    return withShard(at: index) { shard in
      prepare(&shard)
      return withAllShards(from: index + 1, each: prepare, body)
    }
  }
}
