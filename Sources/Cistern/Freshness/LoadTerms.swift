/// What a load asks for beside its key, where that is not what the cache does anyway. An object, so that who waits keeps
/// one reference and not all of it in its frame: see ``Flight/wait(as:)``.
@usableFromInline
final class LoadTerms: Sendable {
  @usableFromInline let storing: Storing
  /// What is accepted; nil for what the cache accepts.
  @usableFromInline let policy: LoadPolicy?
  /// When an earlier attempt of the load began to wait; nil before the first.
  @usableFromInline let start: MonotonicTime?

  @inlinable
  init(storing: Storing, policy: LoadPolicy?, start: MonotonicTime? = nil) {
    self.storing = storing
    self.policy = policy
    self.start = start
  }

  /// Nil where all is as usual, so that a usual load allocates nothing for it: an initializer that fails would.
  @inlinable
  static func unlessUsual(expiry: Expiry?, tags: [String], policy: LoadPolicy?) -> LoadTerms? {
    guard expiry != nil || !tags.isEmpty || policy != nil else { return nil }
    return LoadTerms(storing: Storing(expiry: expiry, tags: tags), policy: policy)
  }
}
