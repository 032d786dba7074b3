/// The state of one watched key.
@usableFromInline
struct WatchedKey: Sendable {
  @usableFromInline var watchers = 0
  /// The number of watchers that are readers in progress.
  @usableFromInline var readers = 0
  /// A lower bound of the invalidation versions of the readers that watch the key. The maximum without one.
  @usableFromInline var oldestRead = InvalidationVersion.max
  @usableFromInline var version = KeyVersion()
  /// Whether the key has unconfirmed edits. Each pending edit watches its key, which keeps this state.
  @usableFromInline var isEdited = false

  @inlinable
  init() {}
}
