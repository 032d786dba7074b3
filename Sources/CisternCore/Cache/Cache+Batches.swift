extension Cache {
  /// Makes several writes as one. No reader sees some of them without the others. On disk they are one commit, which a crash
  /// leaves whole or not at all. Observers of sets get one set (``observeChangeSets(_:_:)``).
  ///
  /// ```swift
  /// try articles.batch { batch in
  ///   batch.setValue(edited, forKey: id)
  ///   batch.removeValue(forKey: draftID)
  /// }
  /// ```
  ///
  /// Returns when all values are readable; ``commitBatch(context:_:)`` waits for the disk. If the cache merges, each value is
  /// merged, also with those that the batch set for its key before. If memory cannot hold all values, the rest is on disk only.
  ///
  /// A batch may fill a quarter of the data file, 256 MiB at most. Each of its values may be as large as alone. A large batch evicts
  /// more than its own size: on disk it is one transaction, which copies the pages that it changes.
  ///
  /// Throws the error of `body`. Throws `CisternError` if the batch is larger than that, or too large for memory without a
  /// disk. Also throws it if a value cannot be encoded or merged. Then nothing is stored. O(n) for n keys, whose shards are
  /// locked together for that time.
  ///
  /// - Parameters:
  ///   - context: the writer, for ``Change/context``.
  ///   - body: makes the writes. Runs once, at once, outside all locks.
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

  /// As ``batch(context:_:)``, and returns when the batch is on disk: no crash undoes any of it.
  ///
  /// Throws `CisternError` also if the disk refuses the batch or fails; memory holds it nevertheless, if it can.
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
    try conditional.writeTogether(batch.keys, context: context, dependsOnCached: dependsOnCached) {
      key, snapshot throws(CisternError) in try plan(batch, key, snapshot)
    }
  }

  /// Plans the write of a key in a batch.
  @inlinable
  func plan(
    _ batch: Batch<Key, Value>, _ key: Key, _ snapshot: ReadSnapshot<Key, Value>
  ) throws(CisternError) -> PlannedWrite<Value> {
    guard let write = batch.writes[key] else { return PlannedWrite(.keep) }
    return try conditional.plan(write, conditional.keptTags.arriving(write.writeOptions), for: key, over: snapshot)
  }

  /// The meaning of a batch's later writes of a key for the earlier ones.
  @inlinable
  var layering: WriteLayering { conditional.merge == nil ? .replaces : .merges }
}
