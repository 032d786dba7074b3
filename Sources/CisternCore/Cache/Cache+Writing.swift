extension Cache {
  /// Stores a value in both tiers. It replaces the older one or is merged with it (``CacheConfiguration/merge``). A fetch of
  /// the key that is under way is not stored; if the cache merges, it is merged under the value.
  ///
  /// Returns at once: the value is readable now, and on disk within the store's commit interval. A crash before that
  /// leaves the older value; ``commitValue(_:forKey:expiry:tags:context:)`` waits. Blocks the thread only while more writes are
  /// staged than the disk can commit.
  ///
  /// A value larger than the memory limit is kept on disk only. So is a new value larger than a sixteenth of it, if it promises
  /// fewer hits than the entries that it would evict. A cache without a disk does not store such a value. A value that no tier
  /// can hold is not stored, evicts no entry, and removes the older value. O(1), and the encoding.
  ///
  /// A value that cannot be encoded is reported, and removes the older value. It stays in memory if the cache has a
  /// ``CacheConfiguration/weigher``; else its size is not known, and it is not stored.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  ///   - expiry: the value's lifetime; nil for the cache's.
  ///   - tags: the tags of the value, for ``removeAll(tagged:context:)``. An empty string is no tag. Nil means no tags, or, in
  ///     a cache that merges, the tags of the cached value.
  ///   - context: the writer, for ``Change/context``.
  @inlinable
  @inline(__always)
  public func setValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) {
    secondTier?.partition.waitForRoom()
    if !storesPlainly, !dependsOnCached, case nil = expiry, case nil = tags, case nil = context {
      return setWithoutOptions(value, for: table.hashed(key))
    }
    // A merge error was reported.
    _ = try? write(value, forKey: key, expiry: expiry, tags: tags, context: context)
  }

  /// Stores a value, as ``setValue(_:forKey:expiry:tags:context:)`` does. Suspends while more writes are staged than the disk
  /// can commit, and blocks no thread. Use it in tasks that write faster than the disk.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  ///   - expiry: the value's lifetime; nil for the cache's.
  ///   - tags: the tags of the value; nil for none, or, in a cache that merges, for those of the cached value.
  ///   - context: the writer, for ``Change/context``.
  public nonisolated(nonsending) func setValueWithoutBlocking(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) async {
    await secondTier?.partition.waitForRoom()
    // A merge error was reported.
    _ = try? write(value, forKey: key, expiry: expiry, tags: tags, context: context)
  }

  /// Stores a value, as ``setValue(_:forKey:expiry:tags:context:)`` does, and returns when it is on disk: no crash brings an older
  /// value back. In a store without a second tier it returns at once.
  ///
  /// Throws `CisternError` if the disk refuses the value or fails; memory holds it nevertheless, if it can. Throws also if the value
  /// cannot be merged with the cached one, which stays.
  @inlinable
  public nonisolated(nonsending) func commitValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.prepareToCommit()
    let written = try write(value, forKey: key, expiry: expiry, tags: tags, context: context)
    try await writes.waitForCommit(written, of: key)
  }

  /// Removes a key from both tiers. A fetch of it that is under way is not stored; its callers get its result.
  ///
  /// Returns at once: no look-up finds the key from now on. A crash within the store's commit interval may bring the value back;
  /// ``commitRemoval(forKey:context:)`` waits. O(1).
  @inlinable
  public func removeValue(forKey key: Key, context: WriterContext? = nil) {
    let hashed = table.hashed(key)
    // Most removals from memory alone need no decision.
    if case nil = secondTier, table.remove(hashed, at: now()) { return }
    conditional.remove(hashed, context: context)
  }

  /// Removes a key, as ``removeValue(forKey:context:)`` does, and returns when that is on disk: no crash brings the value back.
  ///
  /// Throws `CisternError` when the disk fails.
  @inlinable
  public nonisolated(nonsending) func commitRemoval(
    forKey key: Key, context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.prepareToCommit()
    // Staged in any case: an earlier removal of the key may not have been committed yet.
    let outcome = conditional.remove(table.hashed(key), stagesAlways: true, context: context) ?? .nothing
    try await writes.waitForCommit(AppliedWrite(value: nil, outcome: outcome), of: key)
  }

  /// Stores a value: as it is, or merged with the cached one.
  ///
  /// Throws if the two cannot be merged, which is reported. The cached value stays.
  @inlinable
  @inline(__always)
  func write(
    _ value: Value, forKey key: Key, expiry: Expiry?, tags: [String]?, context: WriterContext?
  ) throws(CisternError) -> AppliedWrite<Value> {
    let hashed = table.hashed(key)
    // A write that depends on the cached value reads it, and notices its end.
    if !dependsOnCached, observers.isObserved { records.endUnnoticed(hashed, isCounted: false) }
    if storesPlainly, !dependsOnCached, case nil = expiry, tags?.isEmpty ?? true {
      // The main path of sets: the value is not encoded, and usually needs no decision.
      let cost = UInt32(clamping: max(1, weigher?(value) ?? 1))
      if table.set(value, cost: cost, forKey: key, hash: hashed.hash) {
        return AppliedWrite(value: value, outcome: .nothing)
      }
    }
    return try writeAnything(value, for: hashed, expiry: expiry, tags: tags, context: context)
  }

  /// Stores a value that does not depend on the cached one. A separate function, because most sets have no options and
  /// use no outcome.
  @inlinable
  @inline(never)
  func setWithoutOptions(_ value: Value, for key: HashedKey<Key>) {
    if observers.isObserved { records.endUnnoticed(key, isCounted: false) }
    let encoded = writes.encode(value, for: key, expiry: nil, tags: [])
    if case .some = writes.store(encoded, of: key, options: StoringOptions(if: .unedited)) { return }
    // Unconfirmed edits lie over the key. An error was reported.
    let options = ReplacementOptions(WriteOptions(expiry: nil, tags: nil), context: nil)
    _ = try? conditional.mergeAndSet(value, for: key, options: options)
  }

  /// Stores a value of any kind. Not inlined, so that a plain set is short.
  @inlinable
  @inline(never)
  func writeAnything(
    _ value: Value, for key: HashedKey<Key>, expiry: Expiry?, tags: [String]?, context: WriterContext?
  ) throws(CisternError) -> AppliedWrite<Value> {
    if !dependsOnCached {
      let encoded = writes.encode(value, for: key, expiry: expiry, tags: tags ?? [])
      if let outcome = writes.store(encoded, of: key, options: StoringOptions(if: .unedited, context: context)) {
        return AppliedWrite(value: value, outcome: outcome, encodingError: encoded.encodingError)
      }
    }
    // The value is merged with the cached one, or unconfirmed edits lie over the key.
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context)
    return try conditional.mergeAndSet(value, for: key, options: options)
  }
}
