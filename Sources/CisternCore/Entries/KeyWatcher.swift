/// The kind of a watcher of a key.
@usableFromInline
enum KeyWatcher: Sendable {
  /// A write, a draft or an unconfirmed edit.
  case writer
  /// A fetch that depends on the cached value.
  case fetch
}
