public import Locking

/// The shards of a table: a power of two of them, each behind its lock, side by side in memory.
///
/// Not an array of objects: reaching a shard through one would count references, which two threads would fight over.
@safe
@usableFromInline
struct ShardArray<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
  // Sendable holds: the pointer never changes, what it points to lives until deinit, and each shard behind it is
  // reached only through its lock: alone, or among others who change nothing but atomically.
  @usableFromInline let shards: UnsafeMutableRawPointer
  /// The number of shards.
  @usableFromInline let count: Int
  @usableFromInline let shift: UInt64
  /// Whether look-ups change nothing that needs the shard alone.
  @usableFromInline let sharesLookUps: Bool
  /// The threads that look something up.
  @usableFromInline let readers = VisibleReaders(count: MemorySizing.readerCount)

  /// Two lines of memory, which some processors fetch as one.
  @usableFromInline static var alignment: Int { 128 }

  /// The bytes from a lock to its shard: what a hit reads follows in the same line.
  @inlinable static var shardOffset: Int { (MemoryLayout<ReaderBiasedLock>.size + 7) & ~7 }

  /// The bytes from one shard to the next: no line has parts of two.
  @inlinable
  static var stride: Int { (shardOffset + MemoryLayout<Shard<Key, Value>>.size + alignment - 1) & ~(alignment - 1) }

  init(count: Int, policy: EvictionPolicyKind, invalidations: SharedInvalidations<Key>) {
    precondition(count > 0 && count & (count - 1) == 0, "the number of shards is a power of two")
    precondition(MemoryLayout<Shard<Key, Value>>.alignment <= 8, "a shard may follow its lock")
    self.count = count
    shift = UInt64(64 - count.trailingZeroBitCount)
    if case .count = policy.makePolicy().hitRule { sharesLookUps = true } else { sharesLookUps = false }
    unsafe shards = .allocate(byteCount: count * Self.stride, alignment: Self.alignment)
    for index in 0..<count {
      unsafe lock(at: index).initialize(to: ReaderBiasedLock())
      unsafe shard(at: index).initialize(to: Shard(policy: policy.makePolicy(), invalidations: invalidations))
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
    // Initialised as such for each index below the count, which is all that there are; and so are the shards.
    unsafe (shards + index &* Self.stride).assumingMemoryBound(to: ReaderBiasedLock.self)
  }

  @inlinable
  borrowing func shard(at index: Int) -> UnsafeMutablePointer<Shard<Key, Value>> {
    unsafe (shards + (index &* Self.stride &+ Self.shardOffset)).assumingMemoryBound(to: Shard<Key, Value>.self)
  }

  /// The number of a shard's lock, among the readers: not zero, which is none.
  @inlinable
  static func lockNumber(_ index: Int) -> UInt32 { UInt32(truncatingIfNeeded: index &+ 1) }

  /// Runs `body` in the critical section of a hash's shard.
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

  /// As ``withShard(at:_:)``, for what counts as a read: after some in a row the section can be shared.
  @inlinable
  @inline(__always)
  borrowing func withShardToRead<Result>(
    at index: Int, _ body: (UnsafeMutablePointer<Shard<Key, Value>>) -> Result
  ) -> Result {
    unsafe lock(at: index).pointee.withLockToRead(
      number: Self.lockNumber(index), readers: readers, mayShare: sharesLookUps
    ) {
      unsafe body(shard(at: index))
    }
  }

  /// Whether it is worth trying to share a shard's section with others who only read.
  @inlinable
  @inline(__always)
  borrowing func isSharable(at index: Int) -> Bool { unsafe lock(at: index).pointee.isSharable }

  /// Enters a shard's section among others who only read; nil where that is not possible now.
  ///
  /// - Returns: the place in which the thread may count, and with which it leaves.
  @inlinable
  @inline(__always)
  borrowing func beginSharing(at index: Int) -> Int? {
    unsafe lock(at: index).pointee.beginSharing(number: Self.lockNumber(index), readers: readers)
  }

  /// Leaves a section that was entered among others.
  @inlinable
  @inline(__always)
  borrowing func endSharing(_ place: Int, at index: Int) {
    unsafe lock(at: index).pointee.endSharing(place, readers: readers)
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
