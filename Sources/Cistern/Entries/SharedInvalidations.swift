/// The pending invalidations of a table, which all its shards share.
///
/// Guarded by the locks of the shards: changed inside the critical sections of all of them, read inside that of any.
@safe
@usableFromInline
final class SharedInvalidations<Key: Sendable>: @unchecked Sendable {
  // Sendable holds: a change excludes all who read, because it needs every shard's lock, and reading needs one of them.
  // Behind a pointer: a read of a stored property would count references, which readers of all shards share.
  private let pending: UnsafeMutablePointer<PendingInvalidations<Key>>

  init(_ pending: PendingInvalidations<Key> = PendingInvalidations()) {
    unsafe self.pending = .allocate(capacity: 1)
    unsafe self.pending.initialize(to: pending)
  }

  deinit {
    // Initialised by init, and not deinitialised since.
    unsafe pending.deinitialize(count: 1)
    unsafe pending.deallocate()
  }

  /// Inside the critical section of any shard.
  func read<Result>(_ body: (borrowing PendingInvalidations<Key>) -> Result) -> Result {
    // Initialised until deinit.
    unsafe body(pending.pointee)
  }

  /// Inside the critical sections of all shards.
  @usableFromInline
  func change<Result>(_ body: (inout PendingInvalidations<Key>) -> Result) -> Result {
    // As above.
    unsafe body(&pending.pointee)
  }
}

/// The pending invalidations, as a shard sees them.
@usableFromInline
struct ShardInvalidations<Key: Sendable>: Sendable {
  /// The number of the newest.
  @usableFromInline var newest: UInt64
  private let shared: SharedInvalidations<Key>

  init(newest: UInt64 = 0, shared: SharedInvalidations<Key>) {
    self.newest = newest
    self.shared = shared
  }

  /// As ``PendingInvalidations/concerns(_:tags:since:)``.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, tags: [String], since era: UInt64) -> Bool {
    shared.read { $0.concerns(key(), tags: tags, since: era) }
  }

  /// As ``PendingInvalidations/concerns(_:since:)``.
  @usableFromInline
  func concerns(_ key: @autoclosure () -> Key, since era: UInt64) -> Bool {
    shared.read { $0.concerns(key(), since: era) }
  }

  /// As ``PendingInvalidations/number(of:)``.
  @usableFromInline
  func number(of era: Era) -> UInt64 { shared.read { $0.number(of: era) } }
}
