/// The entries of a cache. See ``Cache/entries(_:)`` for their order.
public struct CacheEntries<Key: CacheKey, Value: Sendable>: AsyncSequence, Sendable {
  /// An entry without its value.
  public typealias Element = CacheEntry<Key, Value>

  @usableFromInline let cache: Cache<Key, Value>
  @usableFromInline let selection: EntrySelection

  @usableFromInline
  init(cache: Cache<Key, Value>, selection: EntrySelection) {
    self.cache = cache
    self.selection = selection
  }

  /// Creates an iterator. Its first call begins an enumeration.
  @inlinable
  public func makeAsyncIterator() -> Iterator { Iterator(cache: cache, selection: selection) }

  /// An iterator over entries. Only one task at a time may use it.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let cache: Cache<Key, Value>
    @usableFromInline let selection: EntrySelection
    @usableFromInline var walk: EntryWalk<Key, Value>?
    @usableFromInline var entries: [CacheEntry<Key, Value>] = []
    @usableFromInline var index = 0

    @inlinable
    init(cache: Cache<Key, Value>, selection: EntrySelection) {
      self.cache = cache
      self.selection = selection
    }

    /// Returns the next entry; nil at the end.
    ///
    /// - Throws: `CisternError` if the store is closed or its disk cannot be read, `CancellationError` if the task is
    ///   cancelled.
    @inlinable
    public mutating func next() async throws -> CacheEntry<Key, Value>? { try await next(isolation: nil) }

    /// Returns the next entry; nil at the end. Runs on the caller's actor.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The entry; nil at the end.
    /// - Throws: `CisternError` if the store is closed or its disk cannot be read, `CancellationError` if the task is
    ///   cancelled.
    @inlinable
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> CacheEntry<Key, Value>? {
      if index < entries.count {
        defer { index += 1 }
        return entries[index]
      }
      var walk = try self.walk ?? EntryWalk(cache, selection, after: nil)
      // No other task waits for a chunk without entries, and no transaction is open.
      while !walk.isAtEnd {
        try Task.checkCancellation()
        if walk.hasBegun { await Task.yield() }
        entries = try walk.nextEntries(limit: EntryWalk<Key, Value>.chunkSize)
        index = 1
        self.walk = walk
        if let first = entries.first { return first }
      }
      entries = []
      index = 0
      self.walk = walk
      return nil
    }
  }
}
