extension Cache {
  /// The value of a key, from either tier; nil for a key without one. Setting stores, as ``setValue(_:forKey:expiry:tags:context:)``
  /// does; setting nil removes, as ``removeValue(forKey:context:)`` does.
  ///
  /// Never fetches and never suspends. A hit in memory is O(1), takes one lock at most and allocates nothing. A hit on disk
  /// reads, decodes, and puts the value into memory, all on the calling thread.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    @inline(__always)
    set {
      if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// Returns the value of a key, from either tier; nil if the key has no fresh one. Never fetches, never suspends.
  @inlinable
  public func value(forKey key: Key) -> Value? {
    let hash = table.hash(key)
    let found = table.lookUp(key, hash: hash, at: now())
    if case .hit(let value) = found { return value }
    return value(found, of: HashedKey(key, hash: hash))
  }

  /// The rest of a look-up that was no plain hit in memory. Not inlined, so that a hit is short.
  @inlinable
  @inline(never)
  func value(_ found: Shard<Key, Value>.LookUp, of key: HashedKey<Key>) -> Value? {
    if let value = records.value(found, of: key) { return value }
    table.countMiss()
    return nil
  }

  /// Returns the value of a key from either tier, if it is fresh or past its lifetime by at most `age`. Otherwise, returns nil.
  ///
  /// A value past its lifetime is kept for its grace (``Expiry/after(_:graceStale:)``) and no longer, even if `age` is greater.
  /// Never fetches, never suspends, and refreshes nothing.
  public func value(forKey key: Key, staleUpTo age: Duration) -> Value? {
    let hashed = table.hashed(key)
    let demand = Demand(stale: .upTo(age.countedNanoseconds), fetches: false)
    if let value = usableInMemory(hashed, accepting: demand) { return value }
    if let loaded = records.find(hashed, accepting: demand) { return loaded.value }
    table.countMiss()
    return nil
  }

  /// Returns the value of a key from either tier, fresh or in grace, with its source, age, remaining lifetime and tags. Returns nil
  /// if neither tier has the key. Never fetches, never suspends, and refreshes nothing.
  ///
  /// ```swift
  /// if let found = articles.find(id), !found.isStale { return found.value }
  /// ```
  ///
  /// Both tiers are read in one pass, so that the details are those of the returned value. O(1) in memory; takes one lock.
  public func find(_ key: Key) -> Loaded<Value>? {
    if let loaded = records.find(table.hashed(key), accepting: LoadPolicy.cachedOnly.demand) { return loaded }
    table.countMiss()
    return nil
  }

  /// Whether a key has a fresh value in either tier. A record that an older version of the schema wrote is looked up: its
  /// migration tells whether it has a value.
  ///
  /// The call marks a record for the disk's eviction, as a look-up does. It marks no value in memory, and does not extend a
  /// time to idle.
  @inlinable
  public func contains(_ key: Key) -> Bool { records.contains(table.hashed(key)) }
}
