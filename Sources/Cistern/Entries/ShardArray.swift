import Locking

/// The shards of a table: a power of two of them, each behind its lock, side by side in memory.
///
/// Not an array of objects: reaching a shard through one would count references, which two threads would fight over.
@safe
@usableFromInline
struct ShardArray<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  // Sendable holds: the pointer never changes, what it points to lives until deinit, and each shard behind it is
  // reached only through its lock.
  @usableFromInline let shards: UnsafeMutableRawPointer
  /// The number of shards.
  @usableFromInline let count: Int
  @usableFromInline let shift: UInt64

  /// Two lines of memory, which some processors fetch as one.
  @usableFromInline static var alignment: Int { 128 }

  /// The bytes from one shard to the next: no line has parts of two.
  @inlinable
  static var stride: Int { (MemoryLayout<Guarded<Shard<Key, Value>>>.size + alignment - 1) & ~(alignment - 1) }

  init(count: Int, policy: EvictionPolicyKind) {
    precondition(count > 0 && count & (count - 1) == 0, "the number of shards is a power of two")
    self.count = count
    shift = UInt64(64 - count.trailingZeroBitCount)
    unsafe shards = .allocate(byteCount: count * Self.stride, alignment: Self.alignment)
    for index in 0..<count {
      unsafe shard(at: index).initialize(to: Guarded(Shard(policy: policy.makePolicy())))
    }
  }

  deinit {
    for index in 0..<count { unsafe shard(at: index).deinitialize(count: 1) }
    unsafe shards.deallocate()
  }

  @inlinable
  borrowing func shard(at index: Int) -> UnsafeMutablePointer<Guarded<Shard<Key, Value>>> {
    // Initialised as such for each index below the count, which is all that there are.
    unsafe (shards + index &* Self.stride).assumingMemoryBound(to: Guarded<Shard<Key, Value>>.self)
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
    unsafe shard(at: index).pointee.withLock { shard in
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
  @inlinable
  borrowing func withAllShards<Result>(
    from index: Int = 0, each prepare: (inout Shard<Key, Value>) -> Void, _ body: () -> Result
  ) -> Result {
    guard index < count else { return body() }
    return withShard(at: index) { shard in
      prepare(&shard)
      return withAllShards(from: index + 1, each: prepare, body)
    }
  }

  /// Runs `body` in the critical sections of all shards at once, and then `conclude` in each before it is left.
  @inlinable
  borrowing func withAllShards<Result>(
    from index: Int = 0, _ body: () -> Result, concluding conclude: (inout Shard<Key, Value>, Result) -> Void
  ) -> Result {
    guard index < count else { return body() }
    return withShard(at: index) { shard in
      let result = withAllShards(from: index + 1, body, concluding: conclude)
      conclude(&shard, result)
      return result
    }
  }
}
