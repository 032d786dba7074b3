extension Store {
  /// Makes writes in several caches of the store as one, like ``Cache/batch(context:_:)`` in one cache.
  ///
  /// ```swift
  /// try store.batch { batch in
  ///   batch.setValue(edited, forKey: id, in: articles)
  ///   batch.removeValue(forKey: id, in: previews)
  /// }
  /// ```
  ///
  /// No reader sees a part of the batch. A read that follows a read of one of its values finds its other values, in all
  /// caches. On disk, the batch is one commit, which a crash leaves whole or not at all. Observers of change sets
  /// receive one set from each cache. In your own ``SecondTier``, each cache has its own commits.
  ///
  /// The method returns when all values are readable. ``commitBatch(context:_:)`` waits for the disk. The limits of a
  /// batch (<doc:Limits>) apply to the writes of all caches together. A cache with ``CacheTiers/memoryOnly`` takes part
  /// in memory only.
  ///
  /// - Parameters:
  ///   - context: The writer, for ``Change/context``.
  ///   - body: A closure that makes the writes. It runs once, at once, outside all locks.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or `CisternError` in these cases. Nothing is stored then.
  ///   - The store is closed, also by `body`, or a cache belongs to another store or to none.
  ///   - A cache with ``CacheTiers/secondTierOnly`` takes part, and the second tier takes no writes.
  ///   - The batch is too large.
  ///   - A value cannot be encoded or merged.
  ///   - A key does not equal itself.
  /// - Complexity: O(*n*) for *n* keys, whose shards are locked together for that time.
  @discardableResult
  public func batch<Result>(
    context: WriterContext? = nil, _ body: (StoreBatch) throws -> Result
  ) throws -> Result {
    try checkIsOpen(to: "making a batch")
    let batch = StoreBatch()
    let result = try body(batch)
    try checkIsOpen(to: "making a batch")
    // The bound on staged writes is that of the whole tier, or that of each partition of a custom tier.
    for member in batch.members { member.partition?.waitForRoom() }
    _ = try shared.write(batch.members.map { $0.memberWrites(context: context) })
    return result
  }

  /// Makes writes in several caches as one, like ``batch(context:_:)``, and returns when the batch is on disk.
  ///
  /// - Parameters:
  ///   - context: The writer, for ``Change/context``.
  ///   - body: A closure that makes the writes. It runs once, at once, outside all locks.
  /// - Returns: The result of `body`.
  /// - Throws: As ``batch(context:_:)``. Also throws `CisternError` if the disk refuses the batch or fails. Memory
  ///   holds the batch nevertheless, if it can.
  @discardableResult
  public nonisolated(nonsending) func commitBatch<Result>(
    context: WriterContext? = nil, _ body: (StoreBatch) throws -> Result
  ) async throws -> Result {
    try checkIsOpen(to: "making a batch")
    let batch = StoreBatch()
    let result = try body(batch)
    try checkIsOpen(to: "making a batch")
    for member in batch.members { await member.partition?.prepareToCommit() }
    try await shared.write(batch.members.map { $0.memberWrites(context: context) }).waitForCommit()
    return result
  }
}
