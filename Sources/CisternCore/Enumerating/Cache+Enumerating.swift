// Enumerations of the entries of both tiers.

extension Cache where Key: CacheKey {
  /// The entries of the cache, fresh or in grace, in both tiers. No value is decoded.
  ///
  /// ```swift
  /// for try await entry in articles.entries(.tagged("author:7")) where entry.isStale { print(entry.key) }
  /// ```
  ///
  /// **Order.** In a store with a disk, entries come in the order of the digests of their keys, which is always the
  /// same. With the ``DiskLayout/ordered`` layout, they come in the bytewise order of the keys. Keys of more than 64
  /// bytes then follow in the order of their digests. Other caches have the bytewise order.
  ///
  /// **Guarantee.** No key appears twice. A key appears if it has a value during the whole enumeration, and does not
  /// appear if it has none during the whole enumeration. A key that is written, removed or evicted from the disk during
  /// the enumeration may or may not appear. Evictions from memory, promotions and commits change nothing. Neither does
  /// an eviction from the disk while memory holds the value.
  ///
  /// The data of an entry are those of one instant during the enumeration. An entry of an older schema version appears
  /// before its migration decides about the value. Each read transaction ends before `next` returns.
  ///
  /// **Cost.** The first call copies and sorts the keys in memory. Each chunk of 512 records is then read on the
  /// calling thread. A custom tier lists all its records at once.
  ///
  /// **Errors.** The iterator throws `CisternError` with the code ``CisternError/Code/storeClosed`` if the store is
  /// closed, or ``CisternError/Code/diskFailed`` if the disk cannot be read. The entries before remain valid. A cache
  /// without a second tier throws neither.
  ///
  /// - Parameter selection: The entries to return.
  /// - Returns: The sequence of entries.
  public func entries(_ selection: EntrySelection = .all) -> CacheEntries<Key, Value> {
    CacheEntries(cache: self, selection: selection)
  }

  /// The keys of the entries that are not stale. Order, guarantee, cost and errors are those of ``entries(_:)``.
  ///
  /// - Parameter selection: The entries whose keys to return.
  /// - Returns: The sequence of keys.
  public func keys(_ selection: EntrySelection = .all) -> CacheKeys<Key, Value> {
    CacheKeys(entries: entries(selection))
  }

  /// Returns the number of keys with a fresh value in either tier, by an enumeration.
  ///
  /// ``statistics`` has the number of entries of each tier, at no cost. A key can be in both of them.
  ///
  /// - Parameter selection: The entries to count.
  /// - Returns: The number of keys.
  /// - Throws: `CisternError` as ``entries(_:)``, or `CancellationError` if the task is cancelled.
  /// - Complexity: O(*n*), where *n* is the number of entries.
  @inlinable
  public nonisolated(nonsending) func keyCount(_ selection: EntrySelection = .all) async throws -> Int {
    var count = 0
    var walk = try EntryWalk(self, selection, after: nil)
    // No other task waits for a chunk, and no transaction is open.
    while !walk.isAtEnd {
      try Task.checkCancellation()
      if walk.hasBegun { await Task.yield() }
      count += try walk.nextKeyCount(limit: EntryWalk<Key, Value>.chunkSize)
    }
    return count
  }

  /// Returns some entries after a cursor, in the order of ``entries(_:)``.
  ///
  /// The guarantee of ``entries(_:)`` holds over all pages, from the first to the last one. Nothing is kept between the
  /// calls.
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the page, which is ``EntryPage/next`` of the page before. Nil for the first page.
  ///   - limit: The largest number of visited entries, between 1 and 4096. A greater or smaller number is adjusted.
  ///   - selection: The entries to return.
  /// - Returns: At most `limit` entries. In a dense file, keys with equal digests come together, also beyond the limit.
  /// - Throws: `CisternError` if the store is closed or its disk cannot be read. The code is
  ///   ``CisternError/Code/invalidArgument`` for a cursor of the other ``DiskLayout``. A cache without a second tier
  ///   throws nothing.
  /// - Complexity: O(*m* log *m* + `limit`), where *m* is the number of keys in memory.
  public func page(
    after cursor: EntryCursor? = nil, limit: Int = 256, of selection: EntrySelection = .all
  ) throws(CisternError) -> EntryPage<Key, Value> {
    let limit = min(max(limit, 1), 4096)
    var walk = try EntryWalk(self, selection, after: cursor?.position)
    let entries = try walk.nextEntries(limit: limit)
    return EntryPage(entries: entries, next: walk.isAtEnd ? nil : walk.cursor)
  }
}
