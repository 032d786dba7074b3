/// A load of several keys.
@usableFromInline
struct BulkRequest<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The closure that fetches, in one of two forms.
  @usableFromInline
  enum Fetch: Sendable {
    /// It receives the keys and returns their values.
    case plain(@Sendable ([Key]) async throws -> [Key: Value])
    /// It receives contexts and returns outcomes.
    case withContexts(@Sendable ([FetchContext<Key, Value>]) async throws -> [Key: FetchOutcome<Value>])
  }

  @usableFromInline let options: LoadOptions
  @usableFromInline let policy: LoadPolicy
  /// The cache. The flights keep it open until their values are published.
  @usableFromInline let owner: any AnyObject & Sendable
  @usableFromInline let fetch: Fetch

  /// - Parameters:
  ///   - fetch: The closure that fetches.
  ///   - writeOptions: The options of the stored values.
  ///   - policy: The values that the load accepts, and how long it waits.
  ///   - start: The time from which timeouts count.
  ///   - owner: The cache.
  @inlinable
  init(
    _ fetch: Fetch, _ writeOptions: WriteOptions = WriteOptions(), policy: LoadPolicy, start: MonotonicTime,
    owner: any AnyObject & Sendable
  ) {
    self.fetch = fetch
    self.owner = owner
    self.policy = policy
    var describes = false
    if case .withContexts = fetch { describes = true }
    options = LoadOptions(writeOptions: writeOptions, policy: policy, start: start, describes: describes)
  }
}
