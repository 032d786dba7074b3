extension Cache {
  /// Makes several writes as one.
  ///
  /// ```swift
  /// try articles.batch { batch in
  ///   batch.setValue(edited, forKey: id)
  ///   batch.removeValue(forKey: draftID)
  /// }
  /// ```
  ///
  /// No reader sees some of the writes without the others. On disk they are one commit, which a crash leaves whole or
  /// not at all. Observers of sets get one set (``observeChangeSets(_:_:)``).
  ///
  /// The call returns when all values are readable; ``commitBatch(context:_:)`` waits for the disk. If the cache
  /// merges, each value is merged, also with those that the batch set for its key before. If memory cannot hold all
  /// values, the rest is on disk only.
  ///
  /// A batch may fill a quarter of the data file, and at most 256 MiB. Each of its values may be as large as outside of
  /// a batch. A large batch evicts more than its own size. On disk it is one transaction, which copies the pages that
  /// it changes.
  ///
  /// - Parameters:
  ///   - context: The writer, for ``Change/context``.
  ///   - body: The closure that makes the writes. It runs once, during the call, outside all locks.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`. `CisternError` if the batch exceeds these bounds, or memory without a disk.
  ///   `CisternError` also if a value cannot be encoded or merged, or if a key does not equal itself. In a cache with
  ///   ``CacheTiers/secondTierOnly``, `CisternError` also if the second tier takes no writes. After an error, nothing
  ///   is stored.
  /// - Complexity: O(*n*) for *n* keys, whose shards are locked together for that time.
  @inlinable
  @discardableResult
  public func batch<Result>(
    context: WriterContext? = nil, _ body: (inout Batch<Key, Value>) throws -> Result
  ) throws -> Result {
    var batch = Batch<Key, Value>(layering: layering)
    let result = try body(&batch)
    secondTier?.partition.waitForRoom()
    _ = try write(batch, context: context)
    return result
  }

  /// Makes several writes as one, like ``batch(context:_:)``, and returns when they are on disk. No crash undoes any of
  /// them.
  ///
  /// - Parameters:
  ///   - context: The writer, for ``Change/context``.
  ///   - body: The closure that makes the writes. It runs once, during the call, outside all locks.
  /// - Returns: The result of `body`.
  /// - Throws: As ``batch(context:_:)``, and `CisternError` if the disk refuses the batch or fails. Memory holds the
  ///   batch nevertheless, if it can.
  /// - Complexity: O(*n*) for *n* keys.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func commitBatch<Result>(
    context: WriterContext? = nil, _ body: (inout Batch<Key, Value>) throws -> Result
  ) async throws -> Result {
    var batch = Batch<Key, Value>(layering: layering)
    let result = try body(&batch)
    await secondTier?.partition.prepareToCommit()
    let outcome = try write(batch, context: context)
    try await writes.waitForCommit(outcome, location: "cache \"\(name)\"")
    return result
  }

  @inlinable
  func write(_ batch: Batch<Key, Value>, context: WriterContext?) throws(CisternError) -> WriteOutcome {
    try conditionalWriter.writeTogether(batch.keys, context: context, dependsOnCached: dependsOnCached) {
      key, snapshot throws(CisternError) in try plan(batch, key, snapshot)
    }
  }

  /// Plans the write of a key in a batch.
  @inlinable
  func plan(
    _ batch: Batch<Key, Value>, _ key: Key, _ snapshot: ReadSnapshot<Key, Value>
  ) throws(CisternError) -> PlannedWrite<Value> {
    guard let write = batch.writes[key] else { return PlannedWrite(.keep) }
    return try conditionalWriter.plan(
      write, conditionalWriter.keptTags.arriving(write.writeOptions), for: key, over: snapshot)
  }

  /// The meaning of a batch's later writes of a key for the earlier ones.
  @inlinable
  var layering: WriteLayering { conditionalWriter.merge == nil ? .replaces : .merges }
}
