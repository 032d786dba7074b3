extension Cache {
  /// Stores a value in both tiers.
  ///
  /// The value replaces the older one, or is merged with it (``CacheConfiguration/merge``). A fetch of the key in
  /// progress is not stored. If the cache merges, its result is merged under the value.
  ///
  /// The call returns at once. The value is readable from then on, and on disk within the store's commit interval. A
  /// crash before that leaves the older value; ``commitValue(_:forKey:expiry:tags:context:)`` waits. The call blocks
  /// the thread only while more writes are staged than the disk can commit.
  ///
  /// A value larger than the memory limit is kept on disk only. Memory can also refuse a new value that is larger than
  /// a sixteenth of the limit and than twice the mean cost. It does so if the value promises fewer hits than the
  /// entries that it would evict. A cache without a disk does not store such a value. A value that no tier can hold is
  /// not stored, evicts no entry, and removes the older value.
  ///
  /// A value that cannot be encoded is reported, and removes the older value. It stays in memory if the cache has a
  /// ``CacheConfiguration/weigher``. Otherwise its size is not known, and it is not stored.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - expiry: The value's lifetime; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the value, for ``removeAll(tagged:context:)``. An empty string is no tag. Nil means the
  ///     tags that the value itself gives, and in a cache that merges also those of the cached value.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(1), and the encoding.
  @inlinable
  public func setValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) {
    secondTier?.partition.waitForRoom()
    if !storesPlainly, !dependsOnCached, expiry == nil, tags == nil, context == nil {
      return setWithoutOptions(value, for: table.hashed(key))
    }
    // A merge error was reported.
    _ = try? write(value, forKey: key, expiry: expiry, tags: tags, context: context)
  }

  /// Stores a value like ``setValue(_:forKey:expiry:tags:context:)``, and blocks no thread.
  ///
  /// The call suspends while more writes are staged than the disk can commit. Use it in tasks that write faster than
  /// the disk.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - expiry: The value's lifetime; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the value; nil for those that the value itself gives, or, in a cache that merges, for those
  ///     of the cached value.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(1), and the encoding.
  public nonisolated(nonsending) func setValueWithoutBlocking(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) async {
    await secondTier?.partition.waitForRoom()
    // A merge error was reported.
    _ = try? write(value, forKey: key, expiry: expiry, tags: tags, context: context)
  }

  /// Stores a value like ``setValue(_:forKey:expiry:tags:context:)``, and returns when it is on disk.
  ///
  /// No crash brings an older value back. In a store without a second tier, the call returns at once.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - expiry: The value's lifetime; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the value; nil for those that the value itself gives, or, in a cache that merges, for those
  ///     of the cached value.
  ///   - context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk refuses the value or fails. Memory holds the value nevertheless, if it can.
  ///   `CisternError` also if the value cannot be merged with the cached one, which stays.
  /// - Complexity: O(1), the encoding, and the wait for the commit.
  @inlinable
  public nonisolated(nonsending) func commitValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.prepareToCommit()
    let written = try write(value, forKey: key, expiry: expiry, tags: tags, context: context)
    try await writes.waitForCommit(written, of: key)
  }

  /// Removes a key from both tiers.
  ///
  /// A fetch of the key in progress is not stored, and its callers get its result. The call returns at once. From then
  /// on, no look-up finds the key. A crash within the store's commit interval can bring the value back;
  /// ``commitRemoval(forKey:context:)`` waits.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(1).
  @inlinable
  public func removeValue(forKey key: Key, context: WriterContext? = nil) {
    let hashed = table.hashed(key)
    // Most removals from memory alone need no decision.
    if secondTier == nil, table.remove(hashed, at: now()) { return }
    conditionalWriter.remove(hashed, context: context)
  }

  /// Removes a key like ``removeValue(forKey:context:)``, and returns when the removal is on disk. No crash brings the
  /// value back.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk fails.
  /// - Complexity: O(1), and the wait for the commit.
  @inlinable
  public nonisolated(nonsending) func commitRemoval(
    forKey key: Key, context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.prepareToCommit()
    // Staged in any case: an earlier removal of the key may not have been committed yet.
    let outcome = conditionalWriter.remove(table.hashed(key), record: .always, context: context) ?? .nothing
    try await writes.waitForCommit(AppliedWrite(value: nil, outcome: outcome), of: key)
  }

  /// Stores a value as it is, or merged with the cached one.
  ///
  /// - Throws: An error if the two cannot be merged, which is reported. The cached value stays.
  @inlinable
  @inline(__always)
  func write(
    _ value: Value, forKey key: Key, expiry: Expiry?, tags: [String]?, context: WriterContext?
  ) throws(CisternError) -> AppliedWrite<Value> {
    let hashed = table.hashed(key)
    // A write that depends on the cached value reads it, and notices its end.
    if !dependsOnCached { records.noticeExpiry(of: hashed) }
    if storesPlainly, !dependsOnCached, expiry == nil, tags?.isEmpty ?? true {
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
    records.noticeExpiry(of: key)
    let encoded = writes.encode(value, for: key, expiry: nil, tags: [])
    if writes.store(encoded, of: key, options: StoringOptions(if: .unedited)) != nil { return }
    // Unconfirmed edits lie over the key. An error was reported.
    let options = ReplacementOptions(WriteOptions(expiry: nil, tags: nil), context: nil)
    _ = try? conditionalWriter.mergeAndSet(value, for: key, options: options)
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
    return try conditionalWriter.mergeAndSet(value, for: key, options: options)
  }
}
