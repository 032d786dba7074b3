import CLMDB

/// All or nothing of several changes, by the one writer that an environment has at a time.
///
/// It lives inside ``Environment/withWrite(_:)``, which commits or aborts it: it cannot be kept, be used afterwards, or
/// reach another thread, which LMDB would answer by locking out every writer for good. Views that it gives end with its
/// next change. After an error of LMDB's it can only end.
@safe
@usableFromInline
package struct WriteTransaction: Transaction, ~Copyable, ~Escapable {
  // Valid until the transaction is committed or goes out of scope.
  @usableFromInline
  package let handle: OpaquePointer

  @_lifetime(borrow environment)
  init(handle: OpaquePointer, environment: borrowing Environment) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe mdb_txn_abort(handle)
  }

  /// Makes every change durable, as far as the environment's durability goes; whatever it answers, the transaction ended.
  consuming func commit() throws(LMDBError) {
    let handle = unsafe handle
    discard self
    try check(unsafe mdb_txn_commit(handle), "commit")
  }
}

@available(*, unavailable, message: "a write transaction stays on its thread")
extension WriteTransaction: Sendable {}

extension WriteTransaction {
  /// A cursor that can delete. Nothing else changes the transaction while it lives.
  @inlinable
  @_lifetime(&self)
  package mutating func cursor<Handle: DatabaseHandle>(
    in database: Handle
  ) throws(LMDBError) -> Cursor<Handle, CursorWrites> {
    let cursor = unsafe Cursor<Handle, CursorWrites>(handle: try openCursor(in: database.index, of: handle))
    return unsafe _overrideLifetime(cursor, mutating: &self)
  }
}
