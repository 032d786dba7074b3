/// The kind of a watcher of a key.
@usableFromInline
enum KeyWatcher: Sendable {
  /// A write, a draft or an unconfirmed edit.
  case writer
  /// A reader in progress: a fetch that depends on the cached value, or a read of the second tier. The invalidations
  /// since its beginning are kept.
  case reader
}
