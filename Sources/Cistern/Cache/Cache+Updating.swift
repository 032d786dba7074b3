extension Cache {
  /// Reads the value of a key from either tier, lets `transform` change it, and stores what comes out, in place of what
  /// was there; nil removes it. No update is lost, however many are made at once.
  ///
  /// `transform` gets nil if the key has no usable value. It may run several times: if the key is written while it runs, its
  /// result is dropped, and it runs again on the newer value. The same happens if an invalidation by tag or prefix concerns the value
  /// that it was given. An invalidation of other values does not disturb it. So it should only change the
  /// value, and must not write the key itself. When it throws, or the task is cancelled, everything is left as it was.
  ///
  /// Returns what `transform` did, when the value is readable; ``commitUpdate(forKey:expiry:tags:context:_:)`` waits for
  /// the disk. A fetch of the key that is on its way is not stored. The value is not merged: it replaces.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - expiry: the new value's lifetime; nil for the cache's.
  ///   - tags: the tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: who writes, for ``Change/context``.
  ///   - transform: changes the value. Runs outside all locks, where the caller does.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func updateValue<Result>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) async throws -> Result
  ) async throws -> Result {
    try await update(key, storing: Storing(expiry: expiry, tags: tags), context: context, transform).result
  }

  /// As `updateValue(forKey:)`, at once: on the calling thread, which it blocks only while more writes
  /// are staged than the disk keeps up with.
  @inlinable
  @discardableResult
  public func updateValue<Result, Failure: Error>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    secondTier?.partition.waitForRoom()
    var result: Result?
    let hash = table.hash(key)
    _ = try rewrite(
      key, hash: hash, storing: Storing(expiry: expiry, tags: tags), effect: .replacement, context: context
    ) {
      finding throws(Failure) in
      var value = finding.value
      result = try transform(&value)
      return Self.replacement(of: finding.value, by: value)
    }
    guard let result else { preconditionFailure("an update ran at least once") }
    return result
  }

  /// As `updateValue(forKey:)`, and returns when the new value, or the removal, is on disk.
  ///
  /// Throws what `transform` throws, and `CisternError` when the disk refuses the value or fails.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func commitUpdate<Result>(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: (inout Value?) async throws -> Result
  ) async throws -> Result {
    await secondTier?.partition.prepareToCommit()
    let (result, written) = try await update(
      key, storing: Storing(expiry: expiry, tags: tags), context: context, transform)
    try await waitForCommit(written.outcome, encodingError: written.encodingError, forKey: key)
    return result
  }

  /// As `updateValue(forKey:)`, in a task of its own.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - expiry: the new value's lifetime; nil for the cache's.
  ///   - tags: the tags of the new value, for ``removeAll(tagged:context:)``; nil for those of the old one.
  ///   - context: who writes, for ``Change/context``.
  ///   - transform: changes the value.
  ///   - completion: called in that task with the value that was stored, nil where it was removed; or with what
  ///     `transform` threw.
  public func updateValueInBackground(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: @escaping @Sendable (inout Value?) async throws -> Void,
    completion: @escaping @Sendable (Result<Value?, any Error>) -> Void = { _ in }
  ) {
    Task(executorPreference: pilot.taskExecutor) { [self] in
      do {
        let (_, written) = try await update(
          key, storing: Storing(expiry: expiry, tags: tags), context: context, transform)
        completion(.success(written.value))
      } catch {
        completion(.failure(error))
      }
    }
  }

  @inlinable
  nonisolated(nonsending) func update<Result>(
    _ key: Key, storing: Storing, context: WriterContext?, _ transform: (inout Value?) async throws -> Result
  ) async throws -> (result: Result, written: Written<Value>) {
    let hash = table.hash(key)
    table.watch(hash)
    defer { table.unwatch(hash) }
    while true {
      try Task.checkCancellation()
      await secondTier?.partition.waitForRoom()
      let finding = find(key, hash: hash)
      var value = finding.value
      let result = try await transform(&value)
      try Task.checkCancellation()
      let written = attempt(
        Self.replacement(of: finding.value, by: value), replacing: finding, forKey: key, hash: hash, storing: storing,
        effect: .replacement, context: context)
      if let written { return (result, written) }
    }
  }

  @inlinable
  static func replacement(of cached: Value?, by value: Value?) -> Replacement {
    if let value { return .store(value) }
    return cached == nil ? .keep : .remove
  }
}
