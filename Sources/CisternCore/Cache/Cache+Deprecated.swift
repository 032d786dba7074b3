// Former methods, which existing code may still use.

extension Cache {
  /// The former form of ``editValue(forKey:options:_:confirmedBy:)``.
  @available(*, deprecated, renamed: "editValue(forKey:options:_:confirmedBy:)")
  @_disfavoredOverload
  @discardableResult
  public nonisolated(nonsending) func editValue(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ change: @escaping @Sendable (Value?) -> Value?, confirmedBy operation: () async throws -> Value?
  ) async throws -> Value? {
    let options = UpdateOptions(expiry: expiry, tags: tags, context: context)
    return try await editValue(forKey: key, options: options, change, confirmedBy: operation)
  }

  /// Updates a value as ``updateValueInBackground(forKey:expiry:tags:context:_:)`` does, and passes the result of that
  /// task to `completion`.
  @available(*, deprecated, renamed: "updateValueInBackground(forKey:expiry:tags:context:_:)")
  public func updateValueInBackground(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ transform: @escaping @Sendable (inout Value?) async throws -> Void,
    completion: @escaping @Sendable (Result<Value?, any Error>) -> Void
  ) {
    let update = updateValueInBackground(forKey: key, expiry: expiry, tags: tags, context: context, transform)
    Task(executorPreference: loader.flightOptions.taskExecutor) { completion(await update.result) }
  }
}
