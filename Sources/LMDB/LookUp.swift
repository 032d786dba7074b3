import CLMDB

/// Looks up a key in a transaction. The caller must keep the transaction open, and unchanged, while it uses the
/// result.
@inlinable
func lookUp(_ key: RawSpan, in index: MDB_dbi, of transaction: OpaquePointer) throws(LMDBError) -> MDB_val? {
  var data = unsafe MDB_val()
  let status = unsafe key.withUnsafeBytes { bytes in
    // LMDB only reads the key.
    var keyValue = unsafe MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    return unsafe mdb_get(transaction, index, &keyValue, &data)
  }
  // In a damaged page, LMDB can find a key and report no value.
  if status == MDB_SUCCESS, unsafe data.mv_data != nil { return unsafe data }
  if status == MDB_NOTFOUND || (status == MDB_BAD_VALSIZE && key.isEmpty) { return nil }
  throw LMDBError(status: status == MDB_SUCCESS ? MDB_CORRUPTED : status, operation: "read")
}

@inlinable
func lookUp(_ key: UInt, in index: MDB_dbi, of transaction: OpaquePointer) throws(LMDBError) -> MDB_val? {
  var data = unsafe MDB_val()
  var key = key
  let status = unsafe withUnsafeMutableBytes(of: &key) { bytes in
    var keyValue = unsafe MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
    return unsafe mdb_get(transaction, index, &keyValue, &data)
  }
  // In a damaged page, LMDB can find a key and report no value.
  if status == MDB_SUCCESS, unsafe data.mv_data != nil { return unsafe data }
  if status == MDB_NOTFOUND { return nil }
  throw LMDBError(status: status == MDB_SUCCESS ? MDB_CORRUPTED : status, operation: "read")
}

@inlinable
func openCursor(in index: MDB_dbi, of transaction: OpaquePointer) throws(LMDBError) -> OpaquePointer {
  var cursor: OpaquePointer?
  try check(unsafe mdb_cursor_open(transaction, index, &cursor), "open a cursor")
  return unsafe cursor!
}
