/// The pending invalidations of a table, which all its shards share.
///
/// Guarded by the locks of the shards: a change needs all of them, and a read needs one of them.
@safe
@usableFromInline
final class SharedInvalidations<Key: Sendable>: @unchecked Sendable {
  // Sendable holds: a change excludes all readers, because it needs every shard's lock and a read needs one of them.
  // The state is behind a pointer, because an access to a stored property would count references that all shards
  // share.
  @usableFromInline let pending: UnsafeMutablePointer<PendingInvalidations<Key>>

  init(_ pending: PendingInvalidations<Key> = PendingInvalidations()) {
    unsafe self.pending = .allocate(capacity: 1)
    unsafe self.pending.initialize(to: pending)
  }

  deinit {
    // The memory was initialized by `init` and not deinitialized since.
    unsafe pending.deinitialize(count: 1)
    unsafe pending.deallocate()
  }

  /// Calls `body` with the invalidations. Called inside the critical section of any shard.
  func read<Result>(_ body: (borrowing PendingInvalidations<Key>) -> Result) -> Result {
    // The memory stays initialized until `deinit`.
    unsafe body(pending.pointee)
  }

  /// Calls `body` with the invalidations, which it may change. Called inside the critical sections of all shards.
  @inlinable
  func change<Result>(_ body: (inout PendingInvalidations<Key>) -> Result) -> Result {
    // The memory stays initialized until `deinit`.
    unsafe body(&pending.pointee)
  }
}
