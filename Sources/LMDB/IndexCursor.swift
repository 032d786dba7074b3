import CLMDB

/// A position among the items of one key of an index.
///
/// The items are in the order of their digests. Items with equal digests have no order.
///
/// The compiler ensures that a cursor does not outlive its transaction, and that a write transaction makes no other
/// change while the cursor exists.
@safe
package struct IndexCursor<Access>: ~Copyable, ~Escapable {
  // Valid until `deinit` closes it. The transaction outlives the cursor.
  private let handle: OpaquePointer
  private let key: IndexKey
  /// The item at the cursor, or nil if the cursor is at no item. A copy, because a change can move LMDB's pages.
  package private(set) var item: IndexItem?
  /// Whether LMDB's cursor is at an item, or was at the item that was removed last.
  ///
  /// Without a position, LMDB takes a move to the next item for a move to the first one.
  private var hasPosition = false

  @_lifetime(immortal)
  init(handle: OpaquePointer, key: IndexKey) {
    unsafe self.handle = handle
    self.key = key
  }

  deinit {
    unsafe mdb_cursor_close(handle)
  }

  /// Moves to the first item. Returns false if the key has no items.
  package mutating func moveToFirst() throws(LMDBError) -> Bool { try move(toFirstFrom: 0) }

  /// Moves to the first item with this digest or a greater one. Returns false if no item follows. O(log n).
  package mutating func move(toFirstFrom digest: UInt64) throws(LMDBError) -> Bool {
    precondition(digest <= IndexItem.greatestDigest, "a digest of an index has at most 48 bits")
    // No item has the address zero, so the search finds the first of the items with the digest.
    return try move(MDB_GET_BOTH_RANGE, digest: digest)
  }

  /// Moves to the first item with a greater digest. Returns false if no item follows. O(log n).
  ///
  /// The digest is a position that stays valid when items change, also in later transactions.
  package mutating func move(toFirstAfter digest: UInt64) throws(LMDBError) -> Bool {
    if digest < IndexItem.greatestDigest { return try move(toFirstFrom: digest + 1) }
    (item, hasPosition) = (nil, false)
    return false
  }

  /// Moves to the next item of the key. Returns false after the last item, or if the cursor is at no item.
  ///
  /// After a removal, the cursor moves to the item after the removed one.
  package mutating func moveToNext() throws(LMDBError) -> Bool {
    hasPosition ? try move(MDB_NEXT_DUP, digest: 0) : false
  }

  private mutating func move(_ operation: MDB_cursor_op, digest: UInt64) throws(LMDBError) -> Bool {
    (item, hasPosition) = (nil, false)
    let (status, found) = unsafe withValues(digest: digest, address: 0) { key, value in
      let status = unsafe mdb_cursor_get(handle, key, value, operation)
      let bytes = unsafe UnsafeRawBufferPointer(start: value.pointee.mv_data, count: value.pointee.mv_size)
      // After an error, the value has still the bytes of the sought item.
      return unsafe (status, status == MDB_SUCCESS ? IndexItem(bytes) : nil)
    }
    if status == MDB_NOTFOUND { return false }
    guard let found else {
      // In a damaged page, LMDB can find an item of another size.
      throw LMDBError(status: status == MDB_SUCCESS ? MDB_CORRUPTED : status, operation: "move a cursor of an index")
    }
    (item, hasPosition) = (found, true)
    return true
  }

  /// Calls `body` with the key and an item, for LMDB.
  private borrowing func withValues<Result>(
    digest: UInt64, address: UInt64,
    _ body: (UnsafeMutablePointer<MDB_val>, UnsafeMutablePointer<MDB_val>) -> Result
  ) -> Result {
    unsafe key.withBytes { key in
      unsafe IndexItem.withBytes(digest: digest, address: address) { item in
        // LMDB only reads these bytes, and can then set the pointers to its own.
        var name = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var data = unsafe MDB_val(mv_size: item.count, mv_data: UnsafeMutableRawPointer(mutating: item.baseAddress))
        return unsafe body(&name, &data)
      }
    }
  }
}

@available(*, unavailable, message: "a cursor cannot move to another thread")
extension IndexCursor: Sendable {}

// A cursor is the only way to change items. A removal of an item by its bytes would search for it, and such a search
// can miss it among items with equal digests.
extension IndexCursor where Access == CursorWrites {
  /// Inserts an item, which the key must not have. O(log n).
  ///
  /// After the insertion, the cursor is at no item until it moves to a digest.
  package mutating func insert(_ new: IndexItem) throws(LMDBError) {
    try put(new, 0, "insert an item")
    (item, hasPosition) = (nil, false)
  }

  /// Replaces the address of the item at the cursor, which the key must not have. Returns false if the cursor is at no
  /// item.
  ///
  /// The item keeps its place in the file. The cursor stays at the item.
  @discardableResult
  package mutating func replaceAddress(with address: UInt64) throws(LMDBError) -> Bool {
    guard let old = item else { return false }
    let new = IndexItem(digest: old.digest, address: address)
    try put(new, UInt32(MDB_CURRENT), "replace an item")
    item = new
    return true
  }

  /// Removes the item at the cursor. Returns false if the cursor is at no item.
  ///
  /// After the removal, the cursor is at no item until it moves.
  @discardableResult
  package mutating func removeCurrent() throws(LMDBError) -> Bool {
    guard item != nil else { return false }
    item = nil
    try check(unsafe mdb_cursor_del(handle, 0), "remove an item")
    return true
  }

  /// Removes the first items of the key, but not more than `limit`, and calls `body` with each before its removal.
  ///
  /// - Returns: Whether the key has no more items.
  package mutating func removeFirst(_ limit: Int, _ body: (IndexItem) -> Void = { _ in }) throws(LMDBError) -> Bool {
    var rest = limit
    var isAtItem = try moveToFirst()
    while isAtItem, rest > 0, let item {
      body(item)
      try removeCurrent()
      rest -= 1
      isAtItem = try moveToNext()
    }
    return !isAtItem
  }

  private mutating func put(_ new: IndexItem, _ flags: UInt32, _ operation: String) throws(LMDBError) {
    let status = unsafe withValues(digest: new.digest, address: new.address) {
      unsafe mdb_cursor_put(handle, $0, $1, flags)
    }
    try check(status, operation)
  }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns a cursor before the first item of the key. The cursor must end before the transaction and before its next
  /// change.
  @_lifetime(borrow self)
  package borrowing func cursor(
    forKey key: IndexKey, in database: IndexDatabase
  ) throws(LMDBError) -> IndexCursor<CursorReads> {
    let cursor = unsafe IndexCursor<CursorReads>(handle: try openCursor(in: database.index, of: handle), key: key)
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// Returns the number of items of the key. O(log n) for n keys.
  package borrowing func itemCount(forKey key: IndexKey, in database: IndexDatabase) throws(LMDBError) -> Int {
    let cursor = unsafe try openCursor(in: database.index, of: handle)
    defer { unsafe mdb_cursor_close(cursor) }
    var count = 0
    let status = unsafe key.withBytes { bytes in
      // LMDB only reads the key.
      var name = unsafe MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      var value = unsafe MDB_val()
      let status = unsafe mdb_cursor_get(cursor, &name, &value, MDB_SET)
      return unsafe status == MDB_SUCCESS ? mdb_cursor_count(cursor, &count) : status
    }
    if status == MDB_NOTFOUND { return 0 }
    try check(status, "count items")
    return count
  }

  /// Returns the number of items of all keys. O(1).
  package borrowing func itemCount(in database: IndexDatabase) throws(LMDBError) -> Int {
    unsafe try DatabaseStatistics(of: database.index, in: handle).entryCount
  }
}

extension WriteTransaction {
  /// Returns a cursor that can change the items of the key. No other change is possible while the cursor exists.
  @_lifetime(&self)
  package mutating func cursor(
    forKey key: IndexKey, in database: IndexDatabase
  ) throws(LMDBError) -> IndexCursor<CursorWrites> {
    let cursor = unsafe IndexCursor<CursorWrites>(handle: try openCursor(in: database.index, of: handle), key: key)
    return unsafe _overrideLifetime(cursor, mutating: &self)
  }
}
