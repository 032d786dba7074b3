/// The pending invalidations as one shard sees them.
@usableFromInline
struct ShardInvalidations<Key: Sendable>: Sendable {
  /// The version of the newest invalidation.
  @usableFromInline var newest: InvalidationVersion
  private let shared: SharedInvalidations<Key>

  init(newest: InvalidationVersion = .zero, shared: SharedInvalidations<Key>) {
    self.newest = newest
    self.shared = shared
  }

  /// Calls ``PendingInvalidations/concerns(_:tags:since:)``.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, tags: [String], since invalidationVersion: InvalidationVersion) -> Bool {
    shared.read { $0.concerns(key(), tags: tags, since: invalidationVersion) }
  }

  /// Calls ``PendingInvalidations/concerns(_:since:)``.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, since invalidationVersion: InvalidationVersion) -> Bool {
    shared.read { $0.concerns(key(), since: invalidationVersion) }
  }

  /// Calls ``PendingInvalidations/number(of:)``.
  @usableFromInline
  func number(of invalidationVersion: ShortVersion) -> InvalidationVersion {
    shared.read { $0.number(of: invalidationVersion) }
  }
}
