extension Cache {
  /// Returns the values of several keys. Keys that neither tier has are fetched by one call of `fetch`.
  ///
  /// Values in grace are returned, and the same call of `fetch` refreshes them in the background. A key whose flight is
  /// in progress is joined. Other loads can join each key that this call fetches. If another bulk load does not return
  /// a key that this call joined, another call of `fetch` asks for it.
  ///
  /// A key that fails, alone or with the whole of `fetch`, is in ``LoadedValues/failures``. A key without a value is in
  /// ``LoadedValues/missing``. Neither affects the other keys. `fetch` is cancelled when no caller waits for any of its
  /// keys. Until then, other loads can join all its keys, and the value of each key is stored.
  ///
  /// - Parameters:
  ///   - keys: The keys. A key that occurs twice counts once.
  ///   - expiry: The lifetime of fetched values; nil for the one that the value itself or the cache gives.
  ///   - tags: The tags of fetched values, for ``removeAll(tagged:context:)``.
  ///   - policy: The values that the caller accepts, and how long it waits for each key; nil for the
  ///     cache's policy. A key whose time is up is in ``LoadedValues/failures``.
  ///   - fetch: The closure that returns the values of the given keys, in one request. Values of other keys are
  ///     ignored.
  /// - Returns: The values, the errors, and the keys without a value.
  /// - Throws: `CancellationError` when the calling task is cancelled, and nothing else.
  /// - Complexity: O(*n*) for *n* keys.
  @inlinable
  public nonisolated(nonsending) func values(
    forKeys keys: some Sequence<Key>, expiry: Expiry? = nil, tags: [String] = [],
    policy: LoadPolicy? = nil, fetch: @escaping @Sendable ([Key]) async throws -> [Key: Value]
  ) async throws -> LoadedValues<Key, Value> {
    try await load(
      Set(keys),
      BulkRequest(
        .plain(fetch), WriteOptions(expiry: expiry, tags: tags), policy: policy ?? loadPolicy, start: clock.now(),
        owner: self))
  }

  /// Returns the values of several keys. One call of `fetch` gets the contexts of all keys to fetch, and returns an
  /// outcome for each.
  ///
  /// The call is like ``values(forKeys:expiry:tags:policy:fetch:)`` for several keys, and like
  /// ``load(_:policy:fetch:)`` for each of them. A key without an outcome is in ``LoadedValues/missing``, and so is a
  /// key whose outcome is ``FetchOutcome/absent(expiry:)``. A cache of optional values stores the absence of the
  /// latter, and has it in ``LoadedValues/values``.
  ///
  /// - Parameters:
  ///   - keys: The keys. A key that occurs twice counts once.
  ///   - policy: The values that the caller accepts, and how long it waits for each key; nil for the
  ///     cache's policy.
  ///   - fetch: The closure that returns the outcomes of the given contexts' keys. Outcomes of other keys are ignored.
  /// - Returns: The values with their details, the errors, and the keys without a value.
  /// - Throws: `CancellationError` when the calling task is cancelled, and nothing else.
  /// - Complexity: O(*n*) for *n* keys.
  @inlinable
  public nonisolated(nonsending) func load(
    keys: some Sequence<Key>, policy: LoadPolicy? = nil,
    fetch: @escaping @Sendable ([FetchContext<Key, Value>]) async throws -> [Key: FetchOutcome<Value>]
  ) async throws -> LoadedValues<Key, Value> {
    try await load(
      Set(keys),
      BulkRequest(.withContexts(fetch), policy: policy ?? loadPolicy, start: clock.now(), owner: self))
  }

  @inlinable
  nonisolated(nonsending) func load(
    _ keys: Set<Key>, _ request: BulkRequest<Key, Value>
  ) async throws -> LoadedValues<Key, Value> {
    var result = LoadedValues<Key, Value>()
    var wanted = keys
    repeat {
      wanted = try await loader.load(wanted, for: request, into: &result)
    } while !wanted.isEmpty
    return result
  }
}
