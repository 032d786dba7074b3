import Eviction
public import Locking

/// The shards of a table, each behind its lock, side by side in memory. Their number is a power of two.
///
/// An array of objects would count references on each access, and all threads would contend for those counts.
@safe
@usableFromInline
struct ShardArray<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  // Sendable holds: the pointer never changes, and its memory lives until `deinit`. Each shard is accessed only in
  // its lock's critical section: exclusively, or shared with readers that change it only atomically.
  @usableFromInline let shards: UnsafeMutableRawPointer
  /// The number of shards.
  @usableFromInline let count: Int
  @usableFromInline let shift: UInt64
  /// Whether look-ups can share a shard, because they change no state that needs exclusive access.
  @usableFromInline let sharesLookUps: Bool
  /// The visible readers of all shards' locks.
  @usableFromInline let readers = VisibleReaders(count: MemorySizing.readerCount)

  /// Two cache lines, because some processors fetch lines in pairs.
  @usableFromInline static var alignment: Int { 128 }

  /// The bytes from a lock to its shard. The fields that a hit reads follow the lock in the same cache line.
  @inlinable static var shardOffset: Int { (MemoryLayout<ReaderBiasedLock>.size + 7) & ~7 }

  /// The bytes from one shard to the next. No cache line contains parts of two shards.
  @inlinable
  static var stride: Int { (shardOffset + MemoryLayout<Shard<Key, Value>>.size + alignment - 1) & ~(alignment - 1) }

  init(count: Int, policy: EvictionPolicyKind, invalidations: SharedInvalidations<Key>) {
    precondition(count > 0 && count & (count - 1) == 0, "the number of shards must be a power of two")
    precondition(MemoryLayout<Shard<Key, Value>>.alignment <= 8, "the alignment of a shard must be at most 8 bytes")
    self.count = count
    shift = UInt64(64 - count.trailingZeroBitCount)
    let policies = policy.makePolicies(count: count)
    if case .count = policies[0].hitRule { sharesLookUps = true } else { sharesLookUps = false }
    unsafe shards = .allocate(byteCount: count * Self.stride, alignment: Self.alignment)
    for index in 0..<count {
      unsafe lock(at: index).initialize(to: ReaderBiasedLock())
      unsafe shard(at: index).initialize(to: Shard(policy: policies[index], invalidations: invalidations))
    }
  }

  deinit {
    for index in 0..<count {
      unsafe shard(at: index).deinitialize(count: 1)
      unsafe lock(at: index).deinitialize(count: 1)
    }
    unsafe shards.deallocate()
  }

  @inlinable
  borrowing func lock(at index: Int) -> UnsafeMutablePointer<ReaderBiasedLock> {
    // The memory is initialized as a lock, and below as a shard, for each index less than `count`. All callers pass
    // such an index.
    unsafe (shards + index &* Self.stride).assumingMemoryBound(to: ReaderBiasedLock.self)
  }

  @inlinable
  borrowing func shard(at index: Int) -> UnsafeMutablePointer<Shard<Key, Value>> {
    unsafe (shards + (index &* Self.stride &+ Self.shardOffset)).assumingMemoryBound(to: Shard<Key, Value>.self)
  }

  /// Returns the number of a shard's lock among the visible readers. It is never zero, which means no lock.
  @inlinable
  static func lockNumber(_ index: Int) -> UInt32 { UInt32(truncatingIfNeeded: index &+ 1) }

  /// Runs `body` in the critical section of the shard of a hash.
  @inlinable
  borrowing func withShard<Result>(of hash: UInt64, _ body: (inout Shard<Key, Value>) -> Result) -> Result {
    withShard(at: index(of: hash), body)
  }

  /// Runs `body` in the critical section of a shard.
  @inlinable
  borrowing func withShard<Result>(at index: Int, _ body: (inout Shard<Key, Value>) -> Result) -> Result {
    unsafe lock(at: index).pointee.withLock(number: Self.lockNumber(index), readers: readers) {
      unsafe body(&shard(at: index).pointee)
    }
  }

  /// Runs `body` in the critical section of a shard, if no thread holds the shard's lock.
  ///
  /// - Returns: The result of `body`; nil if it did not run.
  @inlinable
  borrowing func withShardIfAvailable<Result>(
    at index: Int, _ body: (inout Shard<Key, Value>) -> Result
  ) -> Result? {
    unsafe lock(at: index).pointee.withLockIfAvailable(number: Self.lockNumber(index), readers: readers) {
      unsafe body(&shard(at: index).pointee)
    }
  }

  /// Runs `body` in the critical section of a shard, and counts it as a read unless it reports a change.
  ///
  /// After a number of reads in a row, readers can share the critical section.
  @inlinable
  @inline(__always)
  borrowing func withShardToRead<Result>(
    at index: Int, _ body: (UnsafeMutablePointer<Shard<Key, Value>>, inout ReaderBiasedLock.Access) -> Result
  ) -> Result {
    unsafe lock(at: index).pointee.withLockToRead(
      number: Self.lockNumber(index), readers: readers, mayShare: sharesLookUps
    ) { access in
      unsafe body(shard(at: index), &access)
    }
  }

  /// Returns whether readers can probably share a shard's critical section.
  @inlinable
  @inline(__always)
  borrowing func isSharable(at index: Int) -> Bool { unsafe lock(at: index).pointee.isSharable }

  /// Enters a shard's critical section together with other readers.
  ///
  /// - Returns: The reader's place, for counting and for leaving; nil if readers cannot share the section now.
  @inlinable
  @inline(__always)
  borrowing func beginSharing(at index: Int) -> Int? {
    unsafe lock(at: index).pointee.beginSharing(number: Self.lockNumber(index), readers: readers)
  }

  /// Leaves a critical section that was entered with ``beginSharing(at:)``.
  @inlinable
  @inline(__always)
  borrowing func endSharing(_ place: Int, at index: Int) {
    unsafe lock(at: index).pointee.endSharing(place, readers: readers)
  }

  @inlinable
  borrowing func index(of hash: UInt64) -> Int {
    // The high bits select the shard, and the low bits select the slot. A shift by 64, for one shard, gives 0.
    Int(truncatingIfNeeded: hash >> shift)
  }

  /// Runs `body` in the critical sections of all shards at once.
  ///
  /// Every function that locks several shards locks them in ascending order, so that no deadlock is possible.
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

  /// Runs `body` in the critical sections of all shards at once, and then `conclude` in each of them before the
  /// unlock.
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
