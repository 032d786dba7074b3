public import CLMDBDirect
public import Cistern

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reference of the disk: LMDB as a C program calls it, for one thread at a time. Public, so that its calls are
/// inlined.
public final class DirectLMDB {
  private var environment: OpaquePointer?
  @usableFromInline var reading: OpaquePointer?
  @usableFromInline var database: MDB_dbi = 0

  /// Opens or creates an environment with one database, in LMDB's sync mode for the durability.
  public init(directory: String, mapSize: Int, durability: Durability = .powerCut) {
    check(mkdir(directory, 0o700))
    check(mdb_env_create(&environment))
    check(mdb_env_set_mapsize(environment, mapSize))
    check(mdb_env_set_maxdbs(environment, 4))
    let sync = durability == .powerCut ? MDB_NOMETASYNC : MDB_NOSYNC
    check(mdb_env_open(environment, directory, UInt32(MDB_NOTLS | MDB_NORDAHEAD | sync), 0o600))
    var writing: OpaquePointer?
    check(mdb_txn_begin(environment, nil, 0, &writing))
    check(mdb_dbi_open(writing, "records", UInt32(MDB_CREATE), &database))
    check(mdb_txn_commit(writing))
    check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reading))
    mdb_txn_reset(reading)
  }

  deinit {
    mdb_txn_abort(reading)
    mdb_env_close(environment)
  }

  /// Renews the read transaction and gets one value.
  @inlinable
  public func withValue<Result>(forKey key: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    var bytes = key.bigEndian
    return withUnsafeMutableBytes(of: &bytes) { buffer in
      var keyValue = MDB_val(mv_size: buffer.count, mv_data: buffer.baseAddress)
      var found = MDB_val()
      check(mdb_txn_renew(reading))
      defer { mdb_txn_reset(reading) }
      guard mdb_get(reading, database, &keyValue, &found) == 0 else { return nil }
      return body(UnsafeRawBufferPointer(start: found.mv_data, count: found.mv_size))
    }
  }

  /// Visits all keys with a cursor, in one transaction. Returns the sum of their lengths.
  public func visitKeys() -> Int {
    var cursor: OpaquePointer?
    check(mdb_txn_renew(reading))
    defer { mdb_txn_reset(reading) }
    check(mdb_cursor_open(reading, database, &cursor))
    defer { mdb_cursor_close(cursor) }
    var (key, found, sum) = (MDB_val(), MDB_val(), 0)
    while mdb_cursor_get(cursor, &key, &found, MDB_NEXT) == 0 { sum += key.mv_size }
    return sum
  }

  /// Writes the value under each of the keys in one transaction, in the given order.
  public func putBatch(_ keys: some Sequence<Int>, value: [UInt8]) {
    var writing: OpaquePointer?
    check(mdb_txn_begin(environment, nil, 0, &writing))
    value.withUnsafeBytes { valueBytes in
      for key in keys {
        var bytes = key.bigEndian
        withUnsafeMutableBytes(of: &bytes) { buffer in
          var keyValue = MDB_val(mv_size: buffer.count, mv_data: buffer.baseAddress)
          var stored = MDB_val(
            mv_size: valueBytes.count, mv_data: UnsafeMutableRawPointer(mutating: valueBytes.baseAddress))
          check(mdb_put(writing, database, &keyValue, &stored, 0))
        }
      }
    }
    check(mdb_txn_commit(writing))
  }

}

@inlinable
func check(_ code: Int32) {
  guard code == 0 else { fail(code) }
}

@usableFromInline
func fail(_ code: Int32) -> Never {
  fatalError("LMDB: \(String(cString: mdb_strerror(code)))")
}
