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
  ///   - fetch: returns the values of the given keys, in one request. Values of other keys are ignored.
  @inlinable
  public nonisolated(nonsending) func values(
    forKeys keys: some Sequence<Key>, expiry: Expiry? = nil, tags: [String] = [],
    fetch: @escaping @Sendable ([Key]) async throws -> [Key: Value]
  ) async throws -> LoadedValues<Key, Value> {
    var result = LoadedValues<Key, Value>()
    var wanted = Set(keys)
    let request = Loader<Key, Value>.BulkRequest(WriteOptions(expiry: expiry, tags: tags), owner: self, fetch: fetch)
    repeat {
      wanted = try await loader.load(wanted, for: request, into: &result)
    } while !wanted.isEmpty
    return result
  }
}
