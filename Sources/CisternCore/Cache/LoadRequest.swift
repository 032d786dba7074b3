/// A load of one key.
@usableFromInline
struct LoadRequest<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The closure that fetches, in one of two forms.
  @usableFromInline
  enum Fetch: Sendable {
    /// It receives the key and returns the value.
    case plain(@Sendable (Key) async throws -> Value)
    /// It receives a context and returns an outcome.
    case withContext(ContextFetch<Key, Value>)
  }

  @usableFromInline let key: HashedKey<Key>
  /// The options; nil for the cache's own.
  @usableFromInline let options: LoadOptions?
  @usableFromInline let fetch: Fetch
  /// The cache. A flight keeps it open until the value is published.
  @usableFromInline let owner: any AnyObject & Sendable

  @inlinable
  init(_ key: HashedKey<Key>, options: LoadOptions?, owner: any AnyObject & Sendable, fetch: Fetch) {
    self.key = key
    self.options = options
    self.owner = owner
    self.fetch = fetch
  }

  @inlinable
  var writeOptions: WriteOptions { options?.writeOptions ?? WriteOptions() }

  /// Returns the options of the next attempt, after one that brought nothing.
  ///
  /// - Parameters:
  ///   - policy: The policy of the load.
  ///   - start: The time when the first attempt began to wait.
  /// - Returns: The options.
  func optionsOfNextAttempt(_ policy: LoadPolicy, start: MonotonicTime) -> LoadOptions {
    LoadOptions(writeOptions: writeOptions, policy: policy, start: start, describes: options?.describes ?? false)
  }
}

/// A closure that fetches with a context.
@usableFromInline
typealias ContextFetch<Key: Hashable & Sendable, Value: Sendable> =
  @Sendable (FetchContext<Key, Value>) async throws -> FetchOutcome<Value>
