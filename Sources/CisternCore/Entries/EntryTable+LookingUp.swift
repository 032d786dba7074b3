public import Locking

extension EntryTable {
  /// Returns the value that memory holds for a key.
  ///
  /// Allocates nothing. Takes the shard's lock only if the lock is not biased to readers. The demand is an autoclosure,
  /// because a hit that shares the shard does not read it.
  @inlinable
  @inline(__always)
  func lookUp(
    _ key: Key, hash: UInt64, at now: MonotonicTime, accepting demand: @autoclosure () -> Demand? = nil
  ) -> Shard<Key, Value>.LookUp {
    let index = shards.index(of: hash)
    if shards.isSharable(at: index), let found = lookUpShared(key, hash: hash, index: index, at: now) { return found }
    return lookUpAlone(key, hash: hash, index: index, at: now, accepting: demand())
  }

  /// The fast path of a look-up, which shares the shard with other readers.
  ///
  /// Returns nil if the look-up needs the shard's lock. Inlined because a call costs a noticeable part of a hit.
  @inlinable
  @inline(__always)
  func lookUpShared(_ key: Key, hash: UInt64, index: Int, at now: MonotonicTime) -> Shard<Key, Value>.LookUp? {
    guard let place = shards.beginSharing(at: index) else { return nil }
    let fingerprint = Self.fingerprint(hash)
    let found = unsafe Shard.lookUpFresh(key, in: shards.shard(at: index), fingerprint: fingerprint, at: now)
    if case .hit = found { shards.readers.count(place) }
    shards.endSharing(place, at: index)
    return found
  }

  /// The slow path of a look-up, under the shard's lock.
  @inlinable
  @inline(never)
  func lookUpAlone(
    _ key: Key, hash: UInt64, index: Int, at now: MonotonicTime, accepting demand: Demand?
  ) -> Shard<Key, Value>.LookUp {
    let fingerprint = Self.fingerprint(hash)
    return unsafe shards.withShardToRead(at: index) { shard, access in
      // This thread alone is in the critical section, and the two uses of the pointer do not overlap.
      if let found = unsafe Shard.lookUpFresh(key, in: shard, fingerprint: fingerprint, at: now) {
        if case .hit = found { unsafe shard.pointee.counters.memoryHits += 1 }
        return found
      }
      access = .change
      return unsafe shard.pointee.lookUp(key, fingerprint: fingerprint, at: now, accepting: demand, budget: budget)
    }
  }

  /// Returns the write version of a key without a value in memory, and the invalidation version. Returns nil if memory
  /// holds a value. Does not count as a look-up.
  @usableFromInline
  func versionsIfUnheld(
    _ key: HashedKey<Key>
  ) -> (writeVersion: WriteVersion, invalidationVersion: InvalidationVersion)? {
    shards.withShard(of: key.hash) { shard in
      if let number = shard.locate(key.key, fingerprint: key.fingerprint, budget: budget),
        shard.slots[number].entry.held != nil
      {
        return nil
      }
      return (shard.writeVersion(of: key.fingerprint), shard.invalidations.newest)
    }
  }

  /// Returns the value that memory holds for a key, expired or not. Does not count as a use.
  @inlinable
  func peek(_ key: HashedKey<Key>) -> CachedValue<Value>? {
    let index = shards.index(of: key.hash)
    if shards.isSharable(at: index), let place = shards.beginSharing(at: index) {
      let found = unsafe Shard.peekCurrent(key.key, in: shards.shard(at: index), fingerprint: key.fingerprint)
      shards.endSharing(place, at: index)
      if case .found(let held) = found { return held }
    }
    return unsafe shards.withShardToRead(at: index) { shard, _ in
      guard let number = unsafe shard.pointee.locate(key.key, fingerprint: key.fingerprint, budget: budget),
        let held = unsafe shard.pointee.slots[number].entry.held
      else { return nil }
      return held
    }
  }

  /// Returns the flight that the entry of a key has, or nil if it has none.
  func flight(of key: HashedKey<Key>) -> Flight<Value>? {
    shards.withShard(of: key.hash) { shard in
      shard.slots.find(key.key, fingerprint: Self.fingerprint(key.hash)).flatMap { shard.slots[$0].entry.flight }
    }
  }

  /// Returns the value that memory holds for a key, with its lifetime. Takes the shard's lock.
  @inlinable
  func find(_ key: HashedKey<Key>, at now: MonotonicTime, accepting demand: Demand) -> Shard<Key, Value>.DetailedLookUp
  {
    shards.withShard(of: key.hash) { $0.find(key, at: now, accepting: demand, budget: budget) }
  }
}
