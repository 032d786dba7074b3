extension Shard {
  /// What memory has for a key.
  @usableFromInline
  enum LookUp {
    /// A value to return.
    case hit(Value)
    /// A hit whose use the second tier is to hear of.
    case hitToNote(Value, Uses)
    /// Nothing in memory. The stamp and the newest invalidation tell later whether that is still so.
    case absent(stamp: UInt32, era: UInt64)
    /// A value past its lifetime and in grace, so many nanoseconds ago; or, for a load, one that its policy does not
    /// simply return.
    case stale(Value, by: UInt64)
    /// A value past its time.
    case expired
  }

  /// The main path: what memory has for a key, where to say so changes nothing but the entry's frequency. Nil for what
  /// needs the shard alone.
  ///
  /// Others may do the same at the same time, so the caller counts the hit. Static, with a pointer, so that only the fields
  /// that it reads are loaded: a shard that is lent is loaded as a whole.
  @inlinable
  @inline(__always)
  static func lookUpFresh(
    _ key: Key, in shard: UnsafePointer<Shard>, fingerprint: UInt32, at now: MonotonicTime
  ) -> LookUp? {
    // The caller is in the shard's section: whoever wants to change it waits.
    guard let number = unsafe shard.pointee.slots.find(key, fingerprint: fingerprint) else {
      return unsafe .absent(
        stamp: shard.pointee.stampOfAll &+ shard.pointee.stamps[stampIndex(fingerprint)],
        era: shard.pointee.invalidations.newest)
    }
    guard case .count(let maximum) = unsafe shard.pointee.hitRule,
      let value = unsafe shard.pointee.slots[number].entry.simplyFreshValue(at: now, era: shard.pointee.era)
    else { return nil }
    unsafe shard.pointee.slots.countUse(number, upTo: maximum)
    return .hit(value)
  }

  /// What memory holds for a key, as far as it can be told among others who look something up.
  @usableFromInline
  enum Peek {
    /// A value, or that there is none.
    case found(Held<Value>?)
    /// What an invalidation may concern.
    case needsShardAlone
  }

  /// What memory holds for a key, expired or not. As ``lookUpFresh(_:in:fingerprint:at:)``.
  @inlinable
  @inline(__always)
  static func peekCurrent(_ key: Key, in shard: UnsafePointer<Shard>, fingerprint: UInt32) -> Peek {
    guard let number = unsafe shard.pointee.slots.find(key, fingerprint: fingerprint) else { return .found(nil) }
    let held = unsafe shard.pointee.slots[number].entry.held
    if let held, unsafe held.era != shard.pointee.era { return .needsShardAlone }
    return .found(held)
  }

  /// What memory has for a key, and whatever follows from asking for it.
  ///
  /// - Parameter demand: what a load accepts; nil for a look-up, which accepts what is fresh and refreshes nothing.
  @inlinable
  @inline(never)
  mutating func lookUp(
    _ key: Key, fingerprint: UInt32, at now: MonotonicTime, accepting demand: Demand? = nil, budget: MemoryBudget
  ) -> LookUp {
    guard let number = locate(key, fingerprint: fingerprint, budget: budget), let held = slots[number].entry.held else {
      return .absent(stamp: stamp(of: fingerprint), era: invalidations.newest)
    }
    let freshness = held.freshness(at: now)
    switch (demand ?? .lookUp).verdict(on: freshness) {
    case .gone:
      return .expired
    case .use(let isStale, let refreshes) where !refreshes || slots[number].entry.isRefreshing:
      recordHit(number)
      if isStale { counters.staleHits += 1 }
      held.noteUse(at: now)
      if let uses = held.takeUseForDisk(at: now) { return .hitToNote(held.value, uses) }
      return .hit(held.value)
    case .use, .fetch:
      // The caller begins a refresh, or has to wait for a flight.
      if case .stale(let age, _) = freshness { return .stale(held.value, by: age) }
      return .stale(held.value, by: 0)
    }
  }

  @inlinable
  @inline(__always)
  mutating func recordHit(_ number: SlotNumber) {
    counters.memoryHits += 1
    recordUse(number)
  }

  /// Has the policy know of a use of an entry: a hit, or a value in the place of one that costs as much.
  @inlinable
  @inline(__always)
  mutating func recordUse(_ number: SlotNumber) {
    switch hitRule {
    case .count(let maximum):
      slots.countUse(number, upTo: maximum)
    case .tellPolicy:
      policy.hit(number, in: slots.evictionNodes)
    }
  }
}
