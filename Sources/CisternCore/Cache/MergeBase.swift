/// The version of a key when a fetch began that depends on the cached value. It tells the changes since then.
@usableFromInline
struct MergeBase<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let key: HashedKey<Key>
  @usableFromInline let version: KeyVersion

  @inlinable
  init(of flight: Flight<Value>, for key: HashedKey<Key>, in table: EntryTable<Key, Value>) {
    self.table = table
    self.key = key
    version = table.watch(key, readSince: flight.invalidationVersion)
  }

  /// Notes that the fetch reads a value with these tags. If an invalidation since the flight began concerns them, the
  /// version of the key differs from this one.
  @usableFromInline
  func noteRead(tags: [String], by flight: Flight<Value>) {
    table.noteRead(key, tags: tags, version: version, since: flight.invalidationVersion)
  }

  /// Ends the watch of the key. Call it once, when the flight has published or failed.
  @inlinable
  func end() { table.unwatch(key, as: .reader) }
}
