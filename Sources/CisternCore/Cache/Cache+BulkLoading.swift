extension Cache {
  /// Returns the values of several keys. Keys that neither tier has are fetched by one call of `fetch`.
  ///
  /// Values in grace are returned, and fetched anew in the background with the others. A key whose flight is under way is joined, and
  /// other loads can join each key that this call fetches. A key that was joined, and that the other bulk load's `fetch` did not
  /// return, is asked for by another call.
  ///
  /// A key that fails, alone or with the whole of `fetch`, is in ``LoadedValues/failures``. A key that `fetch` did not
  /// return is in ``LoadedValues/missing``. Neither concerns the other keys.
  ///
  /// Throws `CancellationError` when the calling task is cancelled, and nothing else. `fetch` is cancelled when no caller
  /// waits for any of its keys. O(n) for n keys.
  ///
  /// - Parameters:
  ///   - keys: the keys; one that comes twice counts once.
  ///   - expiry: the lifetime of fetched values; nil for the one that the value itself or the cache gives.
  ///   - tags: the tags of fetched values, for ``removeAll(tagged:context:)``.
  ///   - policy: the values that the caller accepts, and how long it waits for each key; nil for
  ///     ``LoadPolicy/cachedOrFetch``. A key whose time is up is in ``LoadedValues/failures``.
  ///   - fetch: returns the values of the given keys, in one request. Values of other keys are ignored.
  @inlinable
  public nonisolated(nonsending) func values(
    forKeys keys: some Sequence<Key>, expiry: Expiry? = nil, tags: [String] = [],
    policy: LoadPolicy? = nil, fetch: @escaping @Sendable ([Key]) async throws -> [Key: Value]
  ) async throws -> LoadedValues<Key, Value> {
    try await load(
      Set(keys),
      BulkRequest(
        .plain(fetch), WriteOptions(expiry: expiry, tags: tags), policy: policy, start: clock.now(), owner: self))
  }

  /// Returns the values of several keys. One call of `fetch` gets the contexts of all keys to fetch, and returns an outcome
  /// for each.
  ///
  /// As ``values(forKeys:expiry:tags:policy:fetch:)`` for several keys, and as ``load(_:policy:fetch:)`` for each of them. A key
  /// without an outcome, and one whose outcome is ``FetchOutcome/absent(expiry:)``, is in ``LoadedValues/missing``. The
  /// absence of the latter is stored in a cache of optional values, which then has it in ``LoadedValues/values``.
  ///
  /// - Parameters:
  ///   - keys: the keys; one that comes twice counts once.
  ///   - policy: the values that the caller accepts, and how long it waits for each key; nil for
  ///     ``LoadPolicy/cachedOrFetch``.
  ///   - fetch: returns the outcomes of the given contexts' keys. Outcomes of other keys are ignored.
  @inlinable
  public nonisolated(nonsending) func load(
    keys: some Sequence<Key>, policy: LoadPolicy? = nil,
    fetch: @escaping @Sendable ([FetchContext<Key, Value>]) async throws -> [Key: FetchOutcome<Value>]
  ) async throws -> LoadedValues<Key, Value> {
    try await load(Set(keys), BulkRequest(.withContexts(fetch), policy: policy, start: clock.now(), owner: self))
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
