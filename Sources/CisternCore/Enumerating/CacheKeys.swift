/// The keys of the fresh values of a cache, in the order of their bytes. See ``Cache/keys(_:)``.
public struct CacheKeys<Key: CacheKey, Value: Sendable>: AsyncSequence, Sendable {
  /// A key.
  public typealias Element = Key

  @usableFromInline let entries: CacheEntries<Key, Value>

  @usableFromInline
  init(entries: CacheEntries<Key, Value>) {
    self.entries = entries
  }

  /// Creates an iterator. Its first call begins an enumeration.
  @inlinable
  public func makeAsyncIterator() -> Iterator { Iterator(entries: entries.makeAsyncIterator()) }

  /// An iterator over keys. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var entries: CacheEntries<Key, Value>.Iterator

    @inlinable
    init(entries: CacheEntries<Key, Value>.Iterator) {
      self.entries = entries
    }

    /// Returns the next key; nil at the end.
    ///
    /// - Throws: `CisternError` if the store is closed or its disk cannot be read, `CancellationError` if the task is
    ///   cancelled.
    @inlinable
    public mutating func next() async throws -> Key? { try await next(isolation: nil) }

    /// Returns the next key; nil at the end. Runs on the caller's actor.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Throws: `CisternError` if the store is closed or its disk cannot be read, `CancellationError` if the task is
    ///   cancelled.
    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Key? {
      while let entry = try await entries.next(isolation: actor) {
        if !entry.isStale { return entry.key }
      }
      return nil
    }
  }
}
