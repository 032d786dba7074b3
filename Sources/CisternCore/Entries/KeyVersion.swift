/// The watched version of a key: the numbers of its writes since a writer began to watch it.
@usableFromInline
struct KeyVersion: Sendable, Hashable {
  /// The number of changes of the key's value, except for writes with the effect ``WriteEffect/maintenance``.
  @usableFromInline var changes: UInt32 = 0
  /// The number of removals, of replacements that are not merged, and of fetches anew. A value whose fetch began before
  /// one is not stored.
  @usableFromInline var ends: UInt32 = 0

  @inlinable
  init(changes: UInt32 = 0, ends: UInt32 = 0) {
    self.changes = changes
    self.ends = ends
  }

  /// Returns whether a read at the other version is still right. A removal of all keys that found no value ends fetches
  /// only.
  @inlinable
  func hasSameValue(as other: KeyVersion) -> Bool { changes == other.changes }
}
