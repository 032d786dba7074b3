import CLMDB
import Synchronization

/// A snapshot of the environment, read by one thread at a time.
///
/// It cannot outlive its environment, be copied or be sent elsewhere, and the views that it gives cannot outlive it: the
/// compiler sees to all of these. While it is open, no page that it can see is used again, so that the file grows: keep it
/// short.
@safe
@usableFromInline
package struct ReadTransaction: ~Copyable, ~Escapable {
  // Valid for the transaction's life: the pool, or LMDB, has lent it to this transaction alone.
  @usableFromInline
  let handle: OpaquePointer
  @usableFromInline
  let environment: Unmanaged<Environment>
  /// Where the transaction goes back to; nil for a surplus one, which ends.
  @usableFromInline
  let place: UnsafeMutablePointer<ReaderPool.Place>?

  @inlinable
  @_lifetime(borrow environment)
  init(handle: OpaquePointer, place: UnsafeMutablePointer<ReaderPool.Place>?, environment: borrowing Environment) {
    unsafe self.handle = handle
    unsafe self.place = place
    unsafe self.environment = Unmanaged.passUnretained(copy environment)
  }

  @inlinable
  deinit {
    if let place = unsafe place {
      unsafe mdb_txn_reset(handle)
      // Releasing: whoever takes the transaction next sees it reset.
      unsafe place.pointee.state.store(UInt(bitPattern: handle), ordering: .releasing)
    } else {
      unsafe environment._withUnsafeGuaranteedRef { unsafe $0.endSurplusRead(handle) }
    }
  }

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

  /// A cursor before the first entry. It ends with its scope, before the transaction.
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

  /// A number that grows with every commit: two transactions with the same one see the same.
  package var number: UInt {
    unsafe UInt(mdb_txn_id(handle))
  }
}

@available(*, unavailable, message: "a transaction stays where it was begun")
extension ReadTransaction: Sendable {}
