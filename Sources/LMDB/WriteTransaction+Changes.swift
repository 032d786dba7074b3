import CLMDB

/// The effect of a put if the key exists.
@usableFromInline
package enum PutMode: Sendable {
  /// Replaces the value of the key.
  case overwrite
  /// Keeps the value of the key and returns false.
  case insert
  /// Requires that the key is greater than all others, or throws `keyExists`. Fills pages completely.
  case append

  @inlinable
  var flags: UInt32 {
    switch self {
    case .overwrite: 0
    case .insert: UInt32(MDB_NOOVERWRITE)
    case .append: UInt32(MDB_APPEND)
    }
  }
}

extension WriteTransaction {
  /// Stores the value under the key. Returns false if the mode is `insert` and the key exists. O(log n).
  ///
  /// - Throws: ``LMDBError`` with the code `badValueSize` for a key that is empty or longer than 511 bytes, or
  ///   `mapFull` if the map is full.
  @inlinable
  @discardableResult
  package mutating func put(
    _ value: RawSpan, forKey key: RawSpan, in database: Database, mode: PutMode = .overwrite
  ) throws(LMDBError) -> Bool {
    let status = unsafe key.withUnsafeBytes { keyBytes in
      unsafe value.withUnsafeBytes { unsafe putBytes(keyBytes, $0, database.index, mode.flags) }
    }
    return try stored(status, mode)
  }

  /// Stores the value under the key. Returns false if the mode is `insert` and the key exists. O(log n).
  @inlinable
  @discardableResult
  package mutating func put(
    _ value: RawSpan, forKey key: UInt, in database: IntegerDatabase, mode: PutMode = .overwrite
  ) throws(LMDBError) -> Bool {
    let status = unsafe withUnsafeBytes(of: key) { keyBytes in
      unsafe value.withUnsafeBytes { unsafe putBytes(keyBytes, $0, database.index, mode.flags) }
    }
    return try stored(status, mode)
  }

  /// Reserves space for a value under the key, which the caller fills before the next change.
  ///
  /// The space initially contains arbitrary bytes. The mode `insert` is not available here, so look up the key first.
  @inlinable
  @_lifetime(&self)
  package mutating func reserve(
    byteCount: Int, forKey key: RawSpan, in database: Database, appending: Bool = false
  ) throws(LMDBError) -> MutableRawSpan {
    var data = unsafe MDB_val(mv_size: byteCount, mv_data: nil)
    let status = unsafe key.withUnsafeBytes { unsafe reserveBytes($0, &data, database.index, appending) }
    try check(status, "reserve \(byteCount) bytes")
    let span = unsafe MutableRawSpan(_unsafeStart: data.mv_data, byteCount: byteCount)
    return unsafe _overrideLifetime(span, mutating: &self)
  }

  /// Reserves space for a value under the key, which the caller fills before the next change.
  ///
  /// The space initially contains arbitrary bytes.
  @inlinable
  @_lifetime(&self)
  package mutating func reserve(
    byteCount: Int, forKey key: UInt, in database: IntegerDatabase, appending: Bool = false
  ) throws(LMDBError) -> MutableRawSpan {
    var data = unsafe MDB_val(mv_size: byteCount, mv_data: nil)
    let status = unsafe withUnsafeBytes(of: key) { unsafe reserveBytes($0, &data, database.index, appending) }
    try check(status, "reserve \(byteCount) bytes")
    let span = unsafe MutableRawSpan(_unsafeStart: data.mv_data, byteCount: byteCount)
    return unsafe _overrideLifetime(span, mutating: &self)
  }

  /// Removes the key and its value. Returns false if the key is absent. O(log n).
  @inlinable
  @discardableResult
  package mutating func removeValue(forKey key: RawSpan, in database: Database) throws(LMDBError) -> Bool {
    if key.isEmpty { return false }
    return try removed(unsafe key.withUnsafeBytes { unsafe removeBytes($0, database.index) })
  }

  /// Removes the key and its value. Returns false if the key is absent. O(log n).
  @inlinable
  @discardableResult
  package mutating func removeValue(forKey key: UInt, in database: IntegerDatabase) throws(LMDBError) -> Bool {
    try removed(unsafe withUnsafeBytes(of: key) { unsafe removeBytes($0, database.index) })
  }

  /// Removes every entry. O(n) for n pages. It needs free space in the map, so do not use it to make room.
  package mutating func removeAll(in database: some DatabaseHandle) throws(LMDBError) {
    try check(unsafe mdb_drop(handle, database.index, 0), "empty a database")
  }
}

// LMDB only reads the bytes behind these pointers, although their type is mutable.
extension WriteTransaction {
  @inlinable
  borrowing func putBytes(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ index: MDB_dbi, _ flags: UInt32
  ) -> Int32 {
    var keyValue = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
    var data = unsafe MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
    return unsafe mdb_put(handle, index, &keyValue, &data, flags)
  }

  @inlinable
  borrowing func reserveBytes(
    _ key: UnsafeRawBufferPointer, _ data: inout MDB_val, _ index: MDB_dbi, _ appending: Bool
  ) -> Int32 {
    var keyValue = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
    return unsafe mdb_put(handle, index, &keyValue, &data, UInt32(appending ? MDB_RESERVE | MDB_APPEND : MDB_RESERVE))
  }

  @inlinable
  borrowing func removeBytes(_ key: UnsafeRawBufferPointer, _ index: MDB_dbi) -> Int32 {
    var keyValue = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
    return unsafe mdb_del(handle, index, &keyValue, nil)
  }

  @inlinable
  borrowing func stored(_ status: Int32, _ mode: PutMode) throws(LMDBError) -> Bool {
    if status == MDB_SUCCESS { return true }
    if status == MDB_KEYEXIST, case .insert = mode { return false }
    throw LMDBError(status: status, operation: "put")
  }

  @inlinable
  borrowing func removed(_ status: Int32) throws(LMDBError) -> Bool {
    if status == MDB_SUCCESS { return true }
    if status == MDB_NOTFOUND { return false }
    throw LMDBError(status: status, operation: "remove")
  }
}
