import CLMDB

/// A position among the items of one key of an index, with LMDB's cursor.
///
/// The owner of the position keeps the cursor and its transaction open.
@unsafe
struct IndexPosition {
  let handle: OpaquePointer
  private(set) var key: IndexKey
  /// The item at the position, or nil if the position is at no item. A copy, because a change can move LMDB's pages.
  private(set) var item: IndexItem?
  /// Whether LMDB's cursor is at an item, or was at the item that was removed last.
  ///
  /// Without a position, LMDB takes a move to the next item for a move to the first one.
  private var hasPosition = false

  init(handle: OpaquePointer, key: IndexKey) {
    unsafe self.handle = handle
    unsafe self.key = key
  }

  /// Moves to the first item of a key with this digest or a greater one. Returns false if no item follows.
  mutating func move(toFirstFrom digest: UInt64, forKey key: IndexKey) throws(LMDBError) -> Bool {
    precondition(digest <= IndexItem.greatestDigest, "a digest of an index has at most 48 bits")
    unsafe self.key = key
    // No item has the address zero, so the search finds the first of the items with the digest.
    return unsafe try move(MDB_GET_BOTH_RANGE, digest: digest)
  }

  /// Moves to the next item of the key, or after a removal to the item after the removed one. Returns false after the
  /// last item, or if the position is at no item.
  mutating func moveToNext() throws(LMDBError) -> Bool {
    unsafe hasPosition ? try move(MDB_NEXT_DUP, digest: 0) : false
  }

  /// Leaves the items. The position is at no item until it moves to a digest.
  mutating func reset() {
    unsafe item = nil
    unsafe hasPosition = false
  }

  private mutating func move(_ operation: MDB_cursor_op, digest: UInt64) throws(LMDBError) -> Bool {
    unsafe reset()
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
    unsafe item = found
    unsafe hasPosition = true
    return true
  }

  /// Calls `body` with the key and an item, for LMDB.
  private func withValues<Result>(
    digest: UInt64, address: UInt64,
    _ body: (UnsafeMutablePointer<MDB_val>, UnsafeMutablePointer<MDB_val>) -> Result
  ) -> Result {
    unsafe key.withBytes { key in
      unsafe IndexItem.withBytes(digest: digest, address: address) { item in
        // LMDB only reads these bytes, and can then set the pointers to its own.
        var keyValue = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var data = unsafe MDB_val(mv_size: item.count, mv_data: UnsafeMutableRawPointer(mutating: item.baseAddress))
        return unsafe body(&keyValue, &data)
      }
    }
  }

  // MARK: Changes

  // A position is the only way to change items. A removal of an item by its bytes would search for it, and such a
  // search can miss it among items with equal digests.

  /// Inserts an item, which the key must not have. The position is then at no item until it moves to a digest.
  mutating func insert(_ new: IndexItem, forKey key: IndexKey) throws(LMDBError) {
    unsafe self.key = key
    unsafe reset()
    unsafe try put(new, 0, "insert an item")
  }

  /// Replaces the address of the item at the position, which the key must not have. Returns false if the position is at
  /// no item.
  mutating func replaceAddress(with address: UInt64) throws(LMDBError) -> Bool {
    guard let old = unsafe item else { return false }
    let new = IndexItem(digest: old.digest, address: address)
    unsafe try put(new, UInt32(MDB_CURRENT), "replace an item")
    unsafe item = new
    return true
  }

  /// Removes the item at the position, which is then at no item until it moves. Returns false if the position is at no
  /// item.
  mutating func removeCurrent() throws(LMDBError) -> Bool {
    guard unsafe item != nil else { return false }
    unsafe item = nil
    try check(unsafe mdb_cursor_del(handle, 0), "remove an item")
    return true
  }

  private func put(_ new: IndexItem, _ flags: UInt32, _ operation: String) throws(LMDBError) {
    let status = unsafe withValues(digest: new.digest, address: new.address) {
      unsafe mdb_cursor_put(handle, $0, $1, flags)
    }
    try check(status, operation)
  }
}
