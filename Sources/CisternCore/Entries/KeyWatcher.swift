/// The kind of a watcher of a key.
@usableFromInline
enum KeyWatcher: Sendable {
  /// A write, a draft or an unconfirmed edit.
  case writer
  /// A fetch that depends on the cached value, or a read of the second tier in progress. The invalidations since its
  /// beginning are kept.
  case fetch
}
