/// The options of a load that differ from the cache's defaults. A class, so that the frame of a waiting task
/// contains only one reference (``Flight/wait(as:)``).
@usableFromInline
final class LoadOptions: Sendable {
  @usableFromInline let writeOptions: WriteOptions
  /// The policy of the load; nil for the cache's policy.
  @usableFromInline let policy: LoadPolicy?
  /// The time when an earlier attempt of the load began to wait; nil for the first attempt.
  @usableFromInline let start: MonotonicTime?
  /// Whether the load returns the details of the value.
  @usableFromInline let describes: Bool

  @inlinable
  init(writeOptions: WriteOptions, policy: LoadPolicy?, start: MonotonicTime? = nil, describes: Bool = false) {
    self.writeOptions = writeOptions
    self.policy = policy
    self.start = start
    self.describes = describes
  }

  /// The options of a load that differs from the cache's defaults only in that it returns the details.
  @usableFromInline static let describing = LoadOptions(writeOptions: WriteOptions(), policy: nil, describes: true)

  /// Returns the options of a load, or nil if all are defaults. A default load then allocates nothing. A failable
  /// initializer would allocate first.
  ///
  /// Inlined, because the frame of a waiting task would otherwise hold the expiry and the policy for a call.
  @inlinable
  @inline(__always)
  static func unlessDefault(expiry: Expiry?, tags: [String], policy: LoadPolicy?) -> LoadOptions? {
    guard expiry != nil || !tags.isEmpty || policy != nil else { return nil }
    return LoadOptions(writeOptions: WriteOptions(expiry: expiry, tags: tags), policy: policy)
  }
}
