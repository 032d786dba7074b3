extension Cache {
  /// Reads the value of a key from either tier, and replaces it by the value that `transform` makes of it.
  ///
  /// No update of one process is lost, regardless of how many run concurrently. Two processes can replace each other's
  /// updates.
  ///
  /// `transform` receives nil if the key has no fresh value. A value of nil at its end removes the key. If the key had
  /// no fresh value, a value in grace is removed, too, and unconfirmed edits end. To leave such a key as it is, throw.
  ///
  /// `transform` can run several times. If the key is written while it runs, its result is dropped, and it runs again
  /// on the newer value. The same happens if an invalidation by tag or prefix concerns the value that it received. An
  /// invalidation of other values does not disturb it. The closure should therefore only change the value, and must not
  /// write the key itself. If it throws, or the task is cancelled, nothing changes.
  ///
  /// Over a second tier of your own that does not invalidate exactly, each invalidation removes all values. The closure
  /// then runs again without a value, if it received one (``SecondTierPartition/invalidatesExactly``).
  ///
  /// The call returns when the value is readable; ``commitUpdate(forKey:expiry:tags:context:_:)`` waits for the disk. A
  /// fetch of the key in progress is not stored. The new value replaces the old one, and is not merged.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expiry: The new value's lifetime; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: The writer, for ``Change/context``.
  ///   - transform: The closure that changes the value. It runs outside all locks, on the caller's actor.
  /// - Returns: The result of `transform`.
  /// - Throws: The error of `transform`, and `CancellationError`.
  /// - Complexity: As a look-up and a set, for each run of `transform`.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func updateValue<Result>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) async throws -> Result
  ) async throws -> Result {
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context)
    return try await update(key, options: options, transform).result
  }

  /// Updates a value on the calling thread, like the asynchronous `updateValue(forKey:)`.
  ///
  /// The call blocks the thread only while more writes are staged than the disk can commit.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expiry: The new value's lifetime; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: The writer, for ``Change/context``.
  ///   - transform: The closure that changes the value. It runs outside all locks.
  /// - Returns: The result of `transform`.
  /// - Throws: The error of `transform`.
  /// - Complexity: As a look-up and a set, for each run of `transform`.
  @inlinable
  @discardableResult
  public func updateValue<Result, Failure: Error>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    secondTier?.partition.waitForRoom()
    var result: Result?
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context)
    _ = try conditionalWriter.readModifyWrite(table.hashed(key), options: options) { snapshot throws(Failure) in
      var value = snapshot.value
      result = try transform(&value)
      return Replacement(value)
    }
    guard let result else { preconditionFailure("an update ran at least once") }
    return result
  }

  /// Updates a value like `updateValue(forKey:)`, and returns when the new value, or the removal, is on disk.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expiry: The new value's lifetime; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: The writer, for ``Change/context``.
  ///   - transform: The closure that changes the value. It runs outside all locks, on the caller's actor.
  /// - Returns: The result of `transform`.
  /// - Throws: The error of `transform`, `CancellationError`, and `CisternError` if the disk refuses the value or
  ///   fails.
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

  /// Updates a value like `updateValue(forKey:)`, in a separate task that starts at once.
  ///
  /// The update runs to its end if the caller drops the task. A cancelled update that is not yet stored stores nothing,
  /// and its task throws `CancellationError`. Cancellation does not take back a stored value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expiry: The new value's lifetime; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: The writer, for ``Change/context``.
  ///   - transform: The closure that changes the value. It runs in that task, on the cache's task executor if it has
  ///     one.
  /// - Returns: The task. Its value is the stored value, or nil after a removal. It throws the error of `transform`.
  @discardableResult
  public func updateValueInBackground(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: @escaping @Sendable (inout Value?) async throws -> Void
  ) -> Task<Value?, any Error> {
    let options = ReplacementOptions(WriteOptions(expiry: expiry, tags: tags), context: context)
    return Task(executorPreference: loader.flightOptions.taskExecutor) { [self] in
      // Unconfirmed edits of the key may show another value than the stored one.
      try await update(key, options: options) { value in
        try await transform(&value)
        return value
      }.result
    }
  }

  @inlinable
  nonisolated(nonsending) func update<Result>(
    _ key: Key, options: ReplacementOptions, _ transform: (inout Value?) async throws -> Result
  ) async throws -> (result: Result, written: AppliedWrite<Value>) {
    let hashed = table.hashed(key)
    table.watch(hashed)
    defer { table.unwatch(hashed) }
    while true {
      try Task.checkCancellation()
      await secondTier?.partition.waitForRoom()
      let snapshot = records.snapshot(of: hashed)
      var value = snapshot.value
      let result = try await transform(&value)
      try Task.checkCancellation()
      if let written = conditionalWriter.compareAndSet(
        Replacement(value), of: hashed, replacing: snapshot, options: options)
      {
        return (result, written)
      }
    }
  }
}
