extension Cache {
  /// Reads the value of a key from either tier, lets `transform` change it, and stores the new value in its place; nil removes
  /// the key. No update of one process is lost, however many run concurrently. Two processes can replace each other's updates.
  ///
  /// `transform` gets nil if the key has no fresh value. If it leaves nil then, the key is removed all the same: a value in grace
  /// goes, and unconfirmed edits end. To leave such a key as it is, throw.
  ///
  /// `transform` may run several times: if the key is written while it runs, its result is dropped, and it runs again on the newer
  /// value. The same happens if an invalidation by tag or prefix concerns the value that it got. An invalidation of other values
  /// does not disturb it. So it should only change the value, and must not write the key itself. If it throws, or the task is
  /// cancelled, nothing changes.
  ///
  /// Returns the result of `transform`, when the value is readable; ``commitUpdate(forKey:expiry:tags:context:_:)`` waits for
  /// the disk. A fetch of the key that is under way is not stored. The value is not merged: it replaces.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - expiry: the new value's lifetime; nil for the cache's.
  ///   - tags: the tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: the writer, for ``Change/context``.
  ///   - transform: changes the value. Runs outside all locks, on the caller's actor.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func updateValue<Result>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) async throws -> Result
  ) async throws -> Result {
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context)
    return try await update(key, options: options, transform).result
  }

  /// As `updateValue(forKey:)`, on the calling thread. Blocks it only while more writes are staged than the disk can commit.
  @inlinable
  @discardableResult
  public func updateValue<Result, Failure: Error>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    secondTier?.partition.waitForRoom()
    var result: Result?
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context)
    _ = try conditional.readModifyWrite(table.hashed(key), options: options) { snapshot throws(Failure) in
      var value = snapshot.value
      result = try transform(&value)
      return Replacement(value)
    }
    guard let result else { preconditionFailure("an update ran at least once") }
    return result
  }

  /// As `updateValue(forKey:)`, and returns when the new value, or the removal, is on disk.
  ///
  /// Throws the error of `transform`, and `CisternError` if the disk refuses the value or fails.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func commitUpdate<Result>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) async throws -> Result
  ) async throws -> Result {
    await secondTier?.partition.prepareToCommit()
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context, stagesRemovals: true)
    let (result, written) = try await update(key, options: options, transform)
    try await writes.waitForCommit(written, of: key)
    return result
  }

  /// As `updateValue(forKey:)`, in a separate task that starts at once.
  ///
  /// The update runs to its end if the caller drops the task. A cancelled update that is not yet stored stores nothing, and its
  /// task throws `CancellationError`. Cancellation does not take back a stored value.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - expiry: the new value's lifetime; nil for the cache's.
  ///   - tags: the tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: the writer, for ``Change/context``.
  ///   - transform: changes the value. Runs in that task, on the cache's task executor if it has one.
  /// - Returns: the task. Its value is the stored value, or nil after a removal. It throws the error of `transform`.
  @discardableResult
  public func updateValueInBackground(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: @escaping @Sendable (inout Value?) async throws -> Void
  ) -> Task<Value?, any Error> {
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context)
    return Task(executorPreference: loader.flightOptions.taskExecutor) { [self] in
      try await update(key, options: options, transform).written.value
    }
  }

  @inlinable
  nonisolated(nonsending) func update<Result>(
    _ key: Key, options: ReplacementOptions, _ transform: (inout Value?) async throws -> Result
  ) async throws -> (result: Result, written: AppliedWrite<Value>) {
    let hashed = table.hashed(key)
    table.watch(hashed.hash)
    defer { table.unwatch(hashed.hash) }
    while true {
      try Task.checkCancellation()
      await secondTier?.partition.waitForRoom()
      let snapshot = records.snapshot(of: hashed)
      var value = snapshot.value
      let result = try await transform(&value)
      try Task.checkCancellation()
      if let written = conditional.compareAndSet(Replacement(value), of: hashed, replacing: snapshot, options: options)
      {
        return (result, written)
      }
    }
  }
}
