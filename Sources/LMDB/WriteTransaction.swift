import CLMDB

/// A transaction that applies several changes together or not at all. An environment has at most one at a time.
///
/// It exists only inside ``Environment/withWrite(_:)``, which commits or aborts it. It cannot be stored or sent to
/// another thread, because LMDB would then block every writer for ever. A view ends with the next change. After an
/// error of LMDB, the transaction can only end.
@safe
@usableFromInline
package struct WriteTransaction: Transaction, ~Copyable, ~Escapable {
  // Valid until the transaction is committed or leaves its scope.
  @usableFromInline
  package let handle: OpaquePointer
  // The environment outlives the transaction.
  @usableFromInline
  package let environment: Unmanaged<Environment>
  /// The number of pages behind the last one for which the file gets space at the commit.
  ///
  /// Later transactions can take them although the device is full. A transaction that takes no new page does not need
  /// them.
  package var sparePages = 0

  @_lifetime(borrow environment)
  init(handle: OpaquePointer, environment: borrowing Environment) {
    unsafe self.handle = handle
    unsafe self.environment = Unmanaged.passUnretained(copy environment)
  }

  deinit {
    unsafe mdb_txn_abort(handle)
  }

  /// Commits all changes with the durability of the environment. The transaction ends even if this throws.
  consuming func commit() throws(LMDBError) {
    let handle = unsafe handle
    discard self
    try check(unsafe mdb_txn_commit(handle), LMDBError.commitOperation)
  }
}

@available(*, unavailable, message: "a write transaction cannot move to another thread")
extension WriteTransaction: Sendable {}

extension WriteTransaction {
  /// Returns a cursor that can delete. No other change is possible while the cursor exists.
  @inlinable
  @_lifetime(&self)
  package mutating func cursor<Handle: DatabaseHandle>(
    in database: Handle
  ) throws(LMDBError) -> Cursor<Handle, CursorWrites> {
    let cursor = unsafe Cursor<Handle, CursorWrites>(handle: try openCursor(in: database.index, of: handle))
    return unsafe _overrideLifetime(cursor, mutating: &self)
  }
}
