import Eviction

extension Shard {
  /// The result of a look-up in memory.
  @usableFromInline
  enum LookUp {
    /// The look-up returns this value.
    case hit(Value)
    /// The look-up returns this value, and the second tier must note its use.
    case hitWithUse(Value, LastAccess)
    /// Memory holds no value. `writeVersion` is the key's write version, and `invalidationVersion` is the invalidation
    /// version.
    ///
    /// A later promotion compares both, to detect a write or an invalidation in between.
    case absent(writeVersion: WriteVersion, invalidationVersion: InvalidationVersion)
    /// The value is past its lifetime, and within its grace period.
    ///
    /// For a load, also a value whose refresh is due, or one that the load's policy does not accept.
    case stale
    /// The value is past its grace period.
    case expired

    /// Returns the value of a hit.
    ///
    /// - Parameter noteUse: Called with the last access of a value, which the second tier must note.
    /// - Returns: The value; nil for a result that is no hit.
    @inlinable
    @inline(__always)
    func hitValue(noteUse: (LastAccess) -> Void) -> Value? {
      switch self {
      case .hit(let value):
        return value
      case .hitWithUse(let value, let lastAccess):
        noteUse(lastAccess)
        return value
      case .absent, .stale, .expired:
        return nil
      }
    }
  }

  /// The fast path of a look-up: returns a result that changes nothing except the entry's frequency.
  ///
  /// Returns nil if the look-up needs the shard's lock. Other threads may run this function at the same time, so the
  /// caller counts the hit. The function is static and takes a pointer, so that only the fields that it reads are
  /// loaded. A borrowed shard would be loaded as a whole.
  @inlinable
  @inline(__always)
  static func lookUpFresh(
    _ key: Key, in shard: UnsafePointer<Shard>, fingerprint: UInt32, at now: MonotonicTime
  ) -> LookUp? {
    // The caller is in the shard's critical section, so every writer of the shard waits.
    guard let number = unsafe shard.pointee.slots.find(key, fingerprint: fingerprint) else {
      return unsafe .absent(
        writeVersion: WriteVersion(
          ofGroup: shard.pointee.writeVersions[versionIndex(fingerprint)], ofAll: shard.pointee.versionOfAll),
        invalidationVersion: shard.pointee.invalidations.newest)
    }
    guard case .count(let maximum) = unsafe shard.pointee.hitRule,
      let value = unsafe shard.pointee.slots[number].entry.simplyFreshValue(
        at: now, invalidationVersion: shard.pointee.invalidationVersion)
    else { return nil }
    unsafe shard.pointee.slots.countUse(number, upTo: maximum)
    return .hit(value)
  }

  /// The result of a peek that shares the shard with other readers.
  @usableFromInline
  enum Peek {
    /// The value in memory; nil if the key has none.
    case found(CachedValue<Value>?)
    /// An invalidation may concern the value, so the peek needs the shard's lock.
    case needsShardAlone
  }

  /// Returns the value that memory holds, expired or not. The conditions of ``lookUpFresh(_:in:fingerprint:at:)``
  /// apply.
  @inlinable
  @inline(__always)
  static func peekCurrent(_ key: Key, in shard: UnsafePointer<Shard>, fingerprint: UInt32) -> Peek {
    guard let number = unsafe shard.pointee.slots.find(key, fingerprint: fingerprint) else { return .found(nil) }
    let held = unsafe shard.pointee.slots[number].entry.held
    if let held, unsafe held.invalidationVersion != shard.pointee.invalidationVersion { return .needsShardAlone }
    return .found(held)
  }

  /// Returns the value that memory holds for a key, and applies the effects of the look-up.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fingerprint: The fingerprint of the key.
  ///   - now: The present time.
  ///   - demand: The values that a load accepts. Nil for a look-up, which accepts fresh values and starts no refresh.
  ///   - budget: The budget of the table.
  /// - Returns: The result of the look-up.
  @inlinable
  @inline(never)
  mutating func lookUp(
    _ key: Key, fingerprint: UInt32, at now: MonotonicTime, accepting demand: Demand? = nil, budget: MemoryBudget
  ) -> LookUp {
    guard let number = locate(key, fingerprint: fingerprint, budget: budget), let held = slots[number].entry.held else {
      return .absent(writeVersion: writeVersion(of: fingerprint), invalidationVersion: invalidations.newest)
    }
    switch (demand ?? .lookUp).verdict(on: held.freshness(at: now)) {
    case .gone:
      return .expired
    case .use(let isStale, let refreshes) where !refreshes || slots[number].entry.isRefreshing:
      recordHit(number)
      if isStale { counters.staleHits += 1 }
      held.noteUse(at: now)
      if let lastAccess = held.takeAccessForDisk(at: now) { return .hitWithUse(held.value, lastAccess) }
      return .hit(held.value)
    case .use, .fetch:
      // The caller starts a refresh or waits for a flight.
      return .stale
    }
  }

  /// Counts a hit, and notes the use of its entry. Called under the exclusive lock.
  @inlinable
  @inline(__always)
  mutating func recordHit(_ number: SlotNumber) {
    counters.memoryHits += 1
    recordUse(number)
  }

  /// Notes a use of an entry: a hit, or a new value with the same cost.
  @inlinable
  @inline(__always)
  mutating func recordUse(_ number: SlotNumber) {
    switch hitRule {
    case .count(let maximum):
      slots.countUse(number, upTo: maximum)
    case .notifyPolicy:
      policy.hit(number, in: slots.evictionNodes)
    }
  }
}
