extension Cache {
  /// Stores a value in both tiers, in place of any older one, or merged with it (``CacheConfiguration/merge``). A fetch of
  /// the key that is on its way is not stored; where the cache merges, it is merged under the value.
  ///
  /// Returns at once: the value is readable now, and on disk within the store's commit interval. A crash before that
  /// leaves the older value; ``commitValue(_:forKey:expiry:tags:context:)`` waits. Blocks the thread only while more writes are
  /// staged than the disk keeps up with.
  ///
  /// A value dearer than memory's limit is kept on disk only; one that no tier can hold is not stored, evicts nobody,
  /// and leaves no older value behind. O(1), and the encoding.
  ///
  /// A value that cannot be encoded is reported, and leaves no older value behind. It stays in memory if the cache has a
  /// ``CacheConfiguration/weigher``; else its size is not known, and it is not stored.
  ///
  /// - Parameters:
  ///   - value: what is stored.
  ///   - key: what it is stored under.
  ///   - expiry: the value's lifetime; nil for the cache's.
  ///   - tags: the tags of the value, for ``removeAll(tagged:context:)``. An empty one is no tag. Nil stands for no tags, and
  ///     in a cache that merges for those of the cached value.
  ///   - context: who writes, for ``Change/context``.
  @inlinable
  public func setValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) {
    secondTier?.partition.waitForRoom()
    // What cannot be merged was reported.
    _ = try? write(value, forKey: key, storing: Storing(expiry: expiry, tags: tags), context: context)
  }

  /// Stores a value, as ``setValue(_:forKey:expiry:tags:context:)`` does, and returns when it is on disk: no crash brings an older
  /// value back. In a store without a second tier it returns at once.
  ///
  /// Throws `CisternError` when the disk refuses the value or fails; memory holds it all the same, if it can. And when it
  /// cannot be merged with what is cached, which stays.
  @inlinable
  public nonisolated(nonsending) func commitValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.prepareToCommit()
    let written = try write(value, forKey: key, storing: Storing(expiry: expiry, tags: tags), context: context)
    try await waitForCommit(written.outcome, encodingError: written.encodingError, forKey: key)
  }

  /// Removes a key from both tiers. A fetch of it that is on its way is not stored; its callers get its result.
  ///
  /// Returns at once: nothing is read from now on. A crash within the store's commit interval may bring the value back;
  /// ``commitRemoval(forKey:context:)`` waits. O(1).
  @inlinable
  public func removeValue(forKey key: Key, context: WriterContext? = nil) {
    remove(key, context: context)
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
    try await waitForCommit(remove(key, stagingAlways: true, context: context), forKey: key)
  }

  /// Removes every key from both tiers at once: no look-up sees some of them. Fetches that are on their way are not
  /// stored. Observers are told once, by ``Change/Event/cleared``.
  ///
  /// O(1): what memory held is let go of behind, by a task, where it is many entries; what is on disk is unreachable at
  /// once and purged behind.
  @inlinable
  public func removeAll() {
    // Let go of outside the locks.
    var edited: [Key: EditedKeys<Key, Value>.Edited]?
    defer { withExtendedLifetime(edited) {} }
    table.clear {
      TaskStarter.start(on: pilot.taskExecutor, $0)
    } commit: {
      if !edits.isEmpty { edited = edits.removeAll() }
      _ = secondTier?.partition.stageRemovalOfAll()
      if observers.isObserved { observers.record(.cleared) }
    }
    deliverChanges()
  }
}
