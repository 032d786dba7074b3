extension Cache {
  /// The value of a key, from either tier; nil for a key without a fresh one.
  ///
  /// Setting a value stores it, as ``setValue(_:forKey:expiry:tags:context:)`` does. Setting nil removes the key, as
  /// ``removeValue(forKey:context:)`` does. Reading never fetches and never suspends.
  ///
  /// - Complexity: O(1) for a hit in memory, which takes at most one lock and allocates nothing. A hit on disk reads,
  ///   decodes, and puts the value into memory, all on the calling thread.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    @inline(__always)
    set {
      if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// Returns the value of a key from either tier, if the key has a fresh one. Never fetches and never suspends.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; nil if neither tier has a fresh one.
  /// - Complexity: O(1) in memory, and O(log *n*) for *n* entries on disk.
  @inlinable
  public func value(forKey key: Key) -> Value? {
    let hash = table.hash(key)
    let found = table.lookUp(key, hash: hash, at: now())
    if case .hit(let value) = found { return value }
    return value(found, of: HashedKey(key, hash: hash))
  }

  /// Returns the rest of a look-up that was no plain hit in memory. Not inlined, so that a hit is short.
  @inlinable
  @inline(never)
  func value(_ found: Shard<Key, Value>.LookUp, of key: HashedKey<Key>) -> Value? {
    if let value = records.value(found, of: key) { return value }
    table.countMiss()
    return nil
  }

  /// Returns the value of a key from either tier, if it is fresh or past its lifetime by at most `age`.
  ///
  /// A value past its lifetime is kept for its grace (``Expiry/after(_:graceStale:)``) and no longer, even if `age` is
  /// greater. The call never fetches, never suspends, and refreshes nothing.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - age: The greatest accepted time since the end of the lifetime.
  /// - Returns: The value; nil if neither tier has such a value.
  /// - Complexity: As ``value(forKey:)``.
  public func value(forKey key: Key, staleUpTo age: Duration) -> Value? {
    let hashed = table.hashed(key)
    let demand = Demand(stale: .upTo(age.countedNanoseconds), fetches: false)
    if let value = usableInMemory(hashed, accepting: demand) { return value }
    return records.find(hashed, accepting: demand)?.value
  }

  /// Returns the value of a key from either tier, fresh or in grace, with its source, age, remaining lifetime and tags.
  ///
  /// ```swift
  /// if let found = articles.find(id), !found.isStale { return found.value }
  /// ```
  ///
  /// The call never fetches, never suspends, and refreshes nothing. It reads both tiers in one pass, so the details are
  /// those of the returned value.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value with its details; nil if neither tier has the key.
  /// - Complexity: O(1) in memory, with one lock. O(log *n*) for *n* entries on disk.
  public func find(_ key: Key) -> Loaded<Value>? {
    records.find(table.hashed(key), accepting: LoadPolicy.cachedOnly.demand)
  }

  /// Returns whether a key has a fresh value in either tier.
  ///
  /// A record that an older version of the schema wrote is looked up, because its migration decides whether it has a
  /// value. The call marks a record for the disk's eviction, as a look-up does. It marks no value in memory, and does
  /// not extend a time to idle.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether a tier has a fresh value.
  /// - Complexity: As ``value(forKey:)``.
  @inlinable
  public func contains(_ key: Key) -> Bool { records.contains(table.hashed(key)) }
}
