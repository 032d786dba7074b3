// Look-ups that memory does not answer with a fresh value. The caller counts a miss if none of them has one.

extension SecondTierReader {
  /// Returns the fresh value of a key after a look-up in memory.
  @inlinable
  func value(_ found: Shard<Key, Value>.LookUp, of key: HashedKey<Key>) -> Value? {
    switch found {
    case .hit, .hitWithUse:
      return found.hitValue { writeUse($0, of: key) }
    case .absent(let writeVersion, let invalidationVersion):
      return valueInSecondTier(
        key, if: .untouched(writeVersion: writeVersion, invalidationVersion: invalidationVersion))
    case .stale:
      return nil
    case .expired:
      return valueAfterExpiry(of: key)
    }
  }

  /// Looks in the second tier, and puts a fresh value into memory, unless the key was written since. Returns the value.
  @inlinable
  @inline(__always)
  func valueInSecondTier(_ key: HashedKey<Key>, if condition: WriteCondition<Value>) -> Value? {
    if case .shows(let shown) = viewOfEdits(of: key.key) {
      if shown != nil { table.count(key.hash) { $0.memoryHits += 1 } }
      return shown
    }
    guard let secondTier else { return nil }
    guard let interpretation = interpretedRecord(of: key, in: secondTier) else { return valuePromotedConcurrently(key) }
    guard case .usable(let found) = interpretation else {
      discard(interpretation, of: key, if: condition)
      return nil
    }
    let isFresh = found.preparedValue.isFresh(at: lifetimes.now())
    promote(found, of: key, if: condition, hit: isFresh ? .fresh : .uncounted)
    return isFresh ? found.value : nil
  }

  /// Returns the fresh value that memory has after the second tier had no record.
  ///
  /// Another reader may have promoted the value after the first look in memory. If the second tier evicted the record
  /// then, memory alone has the value. One look is enough, because a value never moves from memory to the second tier.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; nil if memory has none.
  @inlinable
  @inline(never)
  func valuePromotedConcurrently(_ key: HashedKey<Key>) -> Value? {
    table.lookUp(key.key, hash: key.hash, at: lifetimes.now()).hitValue { writeUse($0, of: key) }
  }

  /// Whether a key has a fresh value in either tier. Does not count as a use in memory.
  @inlinable
  func contains(_ key: HashedKey<Key>) -> Bool {
    if let held = table.peek(key) {
      let now = lifetimes.now()
      if !held.isExpired(at: now) { return true }
      // A look-up reads the record only after the grace. Another process may have written or used it since.
      guard secondTier != nil, held.isGone(at: now) else { return false }
    }
    if case .shows(let shown) = viewOfEdits(of: key.key) { return shown != nil }
    guard let secondTier else { return false }
    var isThere = false
    var isOlder = false
    var hasRecord = false
    secondTier.view(key.key) { metadata, _ in
      hasRecord = true
      isOlder = metadata.schemaVersion < schemaVersion
      isThere = metadata.schemaVersion == schemaVersion && !lifetimes.isExpired(metadata)
    }
    // As in a look-up, another reader may have promoted the value of a record that was evicted then.
    if !hasRecord, let held = table.peek(key) { return !held.isExpired(at: lifetimes.now()) }
    guard isOlder else { return isThere }
    // A look-up migrates the record.
    if value(table.lookUp(key.key, hash: key.hash, at: lifetimes.now()), of: key) != nil { return true }
    table.countMiss()
    return isThere
  }

  /// Returns the encoding of a value that memory holds. If the key has unconfirmed edits, returns the encoding of the
  /// confirmed value.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes; nil if memory holds no value, or the value cannot be encoded.
  @usableFromInline
  func encodedInMemory(_ key: HashedKey<Key>) -> [UInt8]? {
    guard let codec else { return nil }
    // An encoding error was reported when the value was stored.
    if edits.isEmpty {
      let held = table.peek(key)
      // Asked again: an edit may show the value that was seen.
      if edits.isEmpty {
        return held.flatMap { $0.isExpired(at: lifetimes.now()) ? nil : codec.shownBytes(of: $0.value) }
      }
    }
    return confirmedValue(of: key).flatMap { codec.shownBytes(of: $0) }
  }

  /// Returns the bytes of a key in the cache's own version, if an older version wrote its record.
  ///
  /// A look-up migrates the record.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes; nil if the key has no value after the migration.
  @usableFromInline
  func migratedBytes(_ key: HashedKey<Key>) -> [UInt8]? {
    var found: Value?
    if edits.isEmpty {
      found = value(table.lookUp(key.key, hash: key.hash, at: lifetimes.now()), of: key)
      if found == nil { table.countMiss() }
    } else {
      found = confirmedValue(of: key)
    }
    return found.flatMap { codec?.shownBytes(of: $0) }
  }

  /// Returns the fresh value of a key without unconfirmed edits.
  func confirmedValue(of key: HashedKey<Key>) -> Value? { snapshot(of: key, while: {}).0.value }
}
