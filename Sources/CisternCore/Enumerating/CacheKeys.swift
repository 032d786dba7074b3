/// The keys of the fresh values of a cache. See ``Cache/keys(_:)`` for their order.
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
  public func makeAsyncIterator() -> Iterator { Iterator(entries) }

  /// An iterator over keys. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let entries: CacheEntries<Key, Value>
    @usableFromInline var walk: EntryWalk<Key, Value>?
    @usableFromInline var keys: [Key] = []
    @usableFromInline var index = 0

    @inlinable
    init(_ entries: CacheEntries<Key, Value>) {
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
    /// - Returns: The key; nil at the end.
    /// - Throws: `CisternError` if the store is closed or its disk cannot be read, `CancellationError` if the task is
    ///   cancelled.
    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Key? {
      if index < keys.count {
        defer { index += 1 }
        return keys[index]
      }
      keys = try await nextKeys(isolation: actor)
      index = 1
      return keys.first
    }

    /// Returns the keys of the next chunk that has some; empty at the end.
    @inlinable
    mutating func nextKeys(isolation actor: isolated (any Actor)?) async throws -> [Key] {
      if walk == nil { walk = try EntryWalk(entries.cache, entries.selection, after: nil) }
      // No other task waits for a chunk without keys, and no transaction is open.
      while let walk, !walk.isAtEnd {
        try Task.checkCancellation()
        if walk.hasBegun { await Task.yield() }
        if let keys = try self.walk?.nextKeys(limit: EntryWalk<Key, Value>.chunkSize), !keys.isEmpty { return keys }
      }
      return []
    }
  }
}
