extension Cache {
  /// Returns the value of a key, and passes a context to `fetch` if neither tier has a value that the policy accepts.
  ///
  /// The context has the stored value, for example for a conditional request. The outcome stores a value, keeps the
  /// stored one with a new lifetime, stores nothing, or states that the origin has no value. Everything else is as in
  /// ``value(forKey:expiry:tags:policy:fetch:)``. Loads of both kinds share their flights.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - policy: The values that the caller accepts, and how long it waits; nil for the cache's policy.
  ///   - fetch: The closure that returns the outcome of a request to the origin.
  /// - Returns: The value with its source and lifetime; nil if the origin has no value
  ///   (``FetchOutcome/absent(expiry:)``).
  /// - Throws: As ``value(forKey:expiry:tags:policy:fetch:)``, without ``CisternError/Code/noValue``. `CisternError`
  ///   with the code ``CisternError/Code/invalidArgument`` if the fetch keeps a stored value that does not exist.
  /// - Complexity: O(1) for a hit in memory.
  @inlinable
  public nonisolated(nonsending) func load(
    _ key: Key, policy: LoadPolicy? = nil,
    fetch: @escaping @Sendable (FetchContext<Key, Value>) async throws -> FetchOutcome<Value>
  ) async throws -> Loaded<Value>? {
    try Task.checkCancellation()
    let hashed = table.hashed(key)
    if let loaded = loadedInMemory(hashed, accepting: policy) { return loaded }
    let options =
      policy.map { LoadOptions(writeOptions: WriteOptions(), policy: $0, describes: true) } ?? .describing
    let request = LoadRequest<Key, Value>(
      hashed, options: options, owner: self, fetch: .withContext(fetch))
    do {
      return try await loader.load(request)
    } catch is AbsentValue {
      return nil
    }
  }

  /// Starts a fetch of a key in the background, and returns at once.
  ///
  /// The value in both tiers stays readable until the outcome of the fetch is stored. Other loads can join the flight.
  /// It continues without callers, and a failure is reported (``StoreReport/Code/refreshFailed``).
  ///
  /// The call starts nothing in these cases:
  ///
  /// - A flight of the key is in progress.
  /// - A refresh of the key failed within ``CacheConfiguration/refreshRetryInterval``, even if the key was written
  ///   since. The failed load of a key without a value does not prevent a refresh. A cache remembers the failures of
  ///   about 16,000 keys.
  /// - The value is stale, and a load of it failed within that time.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fetch: The closure that returns the outcome of a request to the origin.
  /// - Returns: Whether a fetch begins.
  /// - Complexity: O(1).
  @discardableResult
  public func refresh(
    _ key: Key, fetch: @escaping @Sendable (FetchContext<Key, Value>) async throws -> FetchOutcome<Value>
  ) -> Bool {
    loader.refresh(LoadRequest(table.hashed(key), options: nil, owner: self, fetch: .withContext(fetch)))
  }
}
