import CLMDB

/// The read operations of a transaction. A read transaction sees a snapshot; a write transaction sees its own changes
/// as well.
///
/// Views end with the transaction, or with the next change in a write transaction.
@usableFromInline
package protocol Transaction: ~Copyable, ~Escapable {
  /// LMDB's transaction, valid for the lifetime of this one. Only this module uses it.
  @unsafe var handle: OpaquePointer { get }
  /// The environment, which outlives the transaction. Only this module uses it.
  @unsafe var environment: Unmanaged<Environment> { get }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the value of the key without a copy, or nil if the key is absent. O(log n). The value is aligned to two
  /// bytes only.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func value(forKey key: RawSpan, in database: Database) throws(LMDBError) -> RawSpan? {
    guard let value = unsafe try lookUp(key, in: database.index, of: handle) else { return nil }
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Returns the value of the key without a copy, or nil if the key is absent. O(log n). The value is aligned to two
  /// bytes only.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func value(forKey key: UInt, in database: IntegerDatabase) throws(LMDBError) -> RawSpan? {
    guard let value = unsafe try lookUp(key, in: database.index, of: handle) else { return nil }
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Returns a cursor before the first entry. The cursor must end before the transaction and before its next change.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func cursor<Handle: DatabaseHandle>(
    in database: Handle
  ) throws(LMDBError) -> Cursor<Handle, CursorReads> {
    let cursor = unsafe Cursor<Handle, CursorReads>(handle: try openCursor(in: database.index, of: handle))
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// Returns the size of the database as the transaction sees it. O(1).
  package borrowing func statistics(of database: some DatabaseHandle) throws(LMDBError) -> DatabaseStatistics {
    unsafe try DatabaseStatistics(of: database.index, in: handle)
  }

  /// The transaction number, which increases with every commit.
  ///
  /// For a read transaction, this is the number of the commit that it sees. For a write transaction, it is the number
  /// that a commit with changes gets.
  @inlinable
  package var number: UInt {
    unsafe UInt(mdb_txn_id(handle))
  }
}
