import CLMDB

/// The access of a cursor that only reads.
@usableFromInline
package enum CursorReads {}
/// The access of a cursor that reads and deletes.
@usableFromInline
package enum CursorWrites {}

/// A position in a database, which moves from entry to entry in key order.
///
/// The compiler ensures that a cursor does not outlive its transaction, and that its views end when it moves.
@safe
@usableFromInline
package struct Cursor<Handle: DatabaseHandle, Access>: ~Copyable, ~Escapable {
  // Valid until `deinit` closes it. The transaction outlives the cursor.
  @usableFromInline
  let handle: OpaquePointer
  // Both point into LMDB's pages. They are valid until the cursor moves or the transaction changes, and no view
  // outlives that.
  @usableFromInline
  var currentKey = unsafe MDB_val()
  @usableFromInline
  var currentValue = unsafe MDB_val()
  /// Whether the cursor is at an entry.
  package private(set) var isAtEntry = false

  @usableFromInline
  @_lifetime(immortal)
  init(handle: OpaquePointer) {
    unsafe self.handle = handle
  }

  deinit {
    unsafe mdb_cursor_close(handle)
  }

  /// Moves to the first entry. Returns false if the database is empty.
  package mutating func moveToFirst() throws(LMDBError) -> Bool { try move(MDB_FIRST) }

  /// Moves to the last entry. Returns false if the database is empty.
  package mutating func moveToLast() throws(LMDBError) -> Bool { try move(MDB_LAST) }

  /// Moves to the next entry, or to the first if the cursor has not moved yet. Returns false after the last entry.
  ///
  /// After a deletion, the cursor moves to the entry after the deleted one.
  package mutating func moveToNext() throws(LMDBError) -> Bool { try move(MDB_NEXT) }

  /// Moves to the previous entry, or to the last if the cursor has not moved yet. Returns false before the first
  /// entry.
  package mutating func moveToPrevious() throws(LMDBError) -> Bool { try move(MDB_PREV) }

  /// The value at the cursor, or nil if the cursor is at no entry. It is aligned to two bytes only.
  package var value: RawSpan? {
    @_lifetime(borrow self)
    get {
      guard isAtEntry else { return nil }
      let span = unsafe RawSpan(_unsafeStart: currentValue.mv_data, byteCount: currentValue.mv_size)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
    var key = unsafe currentKey
    var value = unsafe MDB_val()
    let status = unsafe mdb_cursor_get(handle, &key, &value, operation)
    unsafe currentKey = unsafe key
    unsafe currentValue = unsafe value
    // In a damaged page, LMDB can report success without a key or without a value.
    let isWhole = unsafe key.mv_data != nil && value.mv_data != nil
    isAtEntry = status == MDB_SUCCESS && isWhole
    if isAtEntry || status == MDB_NOTFOUND { return isAtEntry }
    throw LMDBError(status: status == MDB_SUCCESS ? MDB_CORRUPTED : status, operation: "move a cursor")
  }

  fileprivate mutating func seek(_ bytes: UnsafeRawBufferPointer, _ operation: MDB_cursor_op) throws(LMDBError) -> Bool
  {
    // LMDB reads the key and then replaces it with the key of the entry that it found.
    unsafe currentKey = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    return try move(operation)
  }
}

@available(*, unavailable, message: "a cursor cannot move to another thread")
extension Cursor: Sendable {}

extension Cursor where Handle == Database {
  /// The key at the cursor, or nil if the cursor is at no entry.
  package var key: RawSpan? {
    @_lifetime(borrow self)
    get {
      guard isAtEntry else { return nil }
      let span = unsafe RawSpan(_unsafeStart: currentKey.mv_data, byteCount: currentKey.mv_size)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Moves to the first entry at or after the key. Returns false if no entry follows. O(log n).
  package mutating func move(toFirstFrom key: RawSpan) throws(LMDBError) -> Bool {
    if key.isEmpty { return try moveToFirst() }
    return unsafe try key.withUnsafeBytes { (bytes) throws(LMDBError) in unsafe try seek(bytes, MDB_SET_RANGE) }
  }

  /// Moves to the entry with the key. Returns false if the key is absent. O(log n).
  package mutating func move(to key: RawSpan) throws(LMDBError) -> Bool {
    if key.isEmpty {
      isAtEntry = false
      return false
    }
    return unsafe try key.withUnsafeBytes { (bytes) throws(LMDBError) in unsafe try seek(bytes, MDB_SET_KEY) }
  }
}

extension Cursor where Handle == IntegerDatabase {
  /// The key at the cursor, or nil if the cursor is at no entry.
  package var key: UInt? {
    guard isAtEntry, unsafe currentKey.mv_size == MemoryLayout<UInt>.size else { return nil }
    return unsafe currentKey.mv_data.loadUnaligned(as: UInt.self)
  }

  /// Moves to the first entry at or after the key. Returns false if no entry follows. O(log n).
  package mutating func move(toFirstFrom key: UInt) throws(LMDBError) -> Bool {
    unsafe try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in unsafe try seek(bytes, MDB_SET_RANGE) }
  }

  /// Moves to the entry with the key. Returns false if the key is absent. O(log n).
  package mutating func move(to key: UInt) throws(LMDBError) -> Bool {
    unsafe try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in unsafe try seek(bytes, MDB_SET_KEY) }
  }
}

extension Cursor where Access == CursorWrites {
  /// Deletes the entry at the cursor. Returns false if the cursor is at no entry.
  ///
  /// After the deletion, the cursor is at no entry until it moves.
  @discardableResult
  package mutating func removeCurrent() throws(LMDBError) -> Bool {
    guard isAtEntry else { return false }
    isAtEntry = false
    try check(unsafe mdb_cursor_del(handle, 0), "remove at a cursor")
    return true
  }
}
