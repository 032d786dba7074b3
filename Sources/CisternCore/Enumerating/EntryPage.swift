/// Entries that follow one another, and the cursor of the next page.
public struct EntryPage<Key: CacheKey, Value: Sendable>: Sendable {
  /// The entries, in the order of the enumeration.
  public let entries: [CacheEntry<Key, Value>]
  /// The cursor of the next page, or nil after the last one.
  ///
  /// A page can have fewer entries than its limit, even none, although others follow.
  public let next: EntryCursor?
}
