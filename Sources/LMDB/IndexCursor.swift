import CLMDB

/// A position among the items of one key of an index.
///
/// The items are in the order of their digests. Items with equal digests have no order.
///
/// The compiler ensures that a cursor does not outlive its transaction, and that a write transaction makes no other
/// change while the cursor exists.
@safe
package struct IndexCursor<Access>: ~Copyable, ~Escapable {
  // LMDB's cursor is valid until `deinit` closes it. The transaction outlives the cursor.
  private var position: IndexPosition

  @_lifetime(immortal)
  init(handle: OpaquePointer, key: IndexKey) {
    unsafe position = IndexPosition(handle: handle, key: key)
  }

  deinit {
    unsafe mdb_cursor_close(position.handle)
  }

  /// The item at the cursor, or nil if the cursor is at no item.
  package var item: IndexItem? { unsafe position.item }

  /// Moves to the first item. Returns false if the key has no items.
  package mutating func moveToFirst() throws(LMDBError) -> Bool { try move(toFirstFrom: 0) }

  /// Moves to the first item with this digest or a greater one. Returns false if no item follows. O(log n).
  package mutating func move(toFirstFrom digest: UInt64) throws(LMDBError) -> Bool {
    unsafe try position.move(toFirstFrom: digest, forKey: position.key)
  }

  /// Moves to the first item with a greater digest. Returns false if no item follows. O(log n).
  ///
  /// The digest is a position that stays valid when items change, also in later transactions.
  package mutating func move(toFirstAfter digest: UInt64) throws(LMDBError) -> Bool {
    if digest < IndexItem.greatestDigest { return try move(toFirstFrom: digest + 1) }
    unsafe position.reset()
    return false
  }

  /// Moves to the next item of the key. Returns false after the last item, or if the cursor is at no item.
  ///
  /// After a removal, the cursor moves to the item after the removed one.
  package mutating func moveToNext() throws(LMDBError) -> Bool { unsafe try position.moveToNext() }
}

@available(*, unavailable, message: "a cursor cannot move to another thread")
extension IndexCursor: Sendable {}

extension IndexCursor where Access == CursorWrites {
  /// Inserts an item, which the key must not have. O(log n).
  ///
  /// After the insertion, the cursor is at no item until it moves to a digest.
  package mutating func insert(_ new: IndexItem) throws(LMDBError) {
    unsafe try position.insert(new, forKey: position.key)
  }

  /// Replaces the address of the item at the cursor, which the key must not have. Returns false if the cursor is at no
  /// item.
  ///
  /// The item keeps its place in the file. The cursor stays at the item.
  @discardableResult
  package mutating func replaceAddress(with address: UInt64) throws(LMDBError) -> Bool {
    unsafe try position.replaceAddress(with: address)
  }

  /// Removes the item at the cursor. Returns false if the cursor is at no item.
  ///
  /// After the removal, the cursor is at no item until it moves.
  @discardableResult
  package mutating func removeCurrent() throws(LMDBError) -> Bool { unsafe try position.removeCurrent() }

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
      var keyValue = unsafe MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      var value = unsafe MDB_val()
      let status = unsafe mdb_cursor_get(cursor, &keyValue, &value, MDB_SET)
      return unsafe status == MDB_SUCCESS ? mdb_cursor_count(cursor, &count) : status
    }
    if status == MDB_NOTFOUND { return 0 }
    try check(status, "count items")
    return count
  }

  /// Returns the number of items of all keys. O(1).
  package borrowing func itemCount(in database: IndexDatabase) throws(LMDBError) -> Int {
    try statistics(of: database).entryCount
  }

  /// Returns the size of the index as the transaction sees it. O(1).
  ///
  /// The entries are the items of all keys. LMDB does not count the pages of a tree that has the items of one key.
  package borrowing func statistics(of database: IndexDatabase) throws(LMDBError) -> DatabaseStatistics {
    unsafe try DatabaseStatistics(of: database.index, in: handle)
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
