import CLMDB

/// What can be read in a transaction: a snapshot, or in a write transaction what was changed so far. Views end with the
/// transaction, and in a write transaction with its next change.
@usableFromInline
package protocol Transaction: ~Copyable, ~Escapable {
  /// LMDB's own, valid for the transaction's life. For this module's use.
  @unsafe var handle: OpaquePointer { get }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// The value of the key, straight from the map; nil where there is none. Logarithmic. Aligned to two bytes only.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func value(forKey key: RawSpan, in database: Database) throws(LMDBError) -> RawSpan? {
    guard let value = unsafe try lookUp(key, in: database.index, of: handle) else { return nil }
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The value of the key, straight from the map; nil where there is none. Logarithmic. Aligned to two bytes only.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func value(forKey key: UInt, in database: IntegerDatabase) throws(LMDBError) -> RawSpan? {
    guard let value = unsafe try lookUp(key, in: database.index, of: handle) else { return nil }
    let span = unsafe RawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// A cursor before the first entry. It ends with its scope, before the transaction and before its next change.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func cursor<Handle: DatabaseHandle>(
    in database: Handle
  ) throws(LMDBError) -> Cursor<Handle, CursorReads> {
    let cursor = unsafe Cursor<Handle, CursorReads>(handle: try openCursor(in: database.index, of: handle))
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// Sizes of the database as the transaction sees it. Constant time.
  package borrowing func statistics(of database: some DatabaseHandle) throws(LMDBError) -> DatabaseStatistics {
    unsafe try DatabaseStatistics(of: database.index, in: handle)
  }

  /// A number that grows with every commit: a snapshot's is that of the commit that it shows, a write transaction's the
  /// one that it gets when it commits with any change.
  @inlinable
  package var number: UInt {
    unsafe UInt(mdb_txn_id(handle))
  }
}
