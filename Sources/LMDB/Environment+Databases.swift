import CLMDB

extension Environment {
  /// Opens the database with the name, or the unnamed database for nil. Creates a missing database unless the
  /// environment is read-only.
  ///
  /// The unnamed database contains the names of the others. The same name always returns the same handle.
  ///
  /// Call this before other threads use the environment, because transactions that are already open do not see the
  /// database.
  ///
  /// - Throws: ``LMDBError`` with one of these codes:
  ///   - `busy` if the calling thread is inside a write transaction.
  ///   - `databaseNotFound` if the database is missing and cannot be created.
  ///   - `incompatible` if the database was created with another kind of keys or values.
  package func openDatabase(named name: String?) throws(LMDBError) -> Database {
    Database(index: try openIndex(named: name, flags: 0))
  }

  /// Opens a database with integer keys, like ``openDatabase(named:)``.
  package func openIntegerDatabase(named name: String) throws(LMDBError) -> IntegerDatabase {
    IntegerDatabase(index: try openIndex(named: name, flags: UInt32(MDB_INTEGERKEY)))
  }

  /// Opens an index, like ``openDatabase(named:)``. Lookups are slower if the name is longer than eight bytes.
  package func openIndexDatabase(named name: String) throws(LMDBError) -> IndexDatabase {
    let index = try openIndex(named: name, flags: UInt32(MDB_DUPSORT | MDB_DUPFIXED))
    return IndexDatabase(index: index, name: ShortKey(name))
  }

  private func openIndex(named name: String?, flags: UInt32) throws(LMDBError) -> MDB_dbi {
    let operation = "open the database \(name ?? "without a name")"
    if options.isReadOnly {
      return try whileOpen(operation) { () throws(LMDBError) in
        try databaseOpening.withLock { (_) throws(LMDBError) in
          var transaction: OpaquePointer?
          try check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction), operation)
          let index: MDB_dbi
          do throws(LMDBError) {
            index = unsafe try openIndex(transaction!, name, flags, operation)
          } catch {
            unsafe mdb_txn_abort(transaction!)
            throw error
          }
          // A commit keeps the handle open for later transactions. An abort would close it.
          try check(unsafe mdb_txn_commit(transaction!), operation)
          return index
        }
      }
    }
    return try withWrite { (transaction) throws(LMDBError) in
      unsafe try openIndex(transaction.handle, name, flags | UInt32(MDB_CREATE), operation)
    }
  }

  private func openIndex(
    _ transaction: OpaquePointer, _ name: String?, _ flags: UInt32, _ operation: String
  ) throws(LMDBError) -> MDB_dbi {
    var index: MDB_dbi = 0
    let status =
      if let name { unsafe mdb_dbi_open(transaction, name, flags, &index) } else {
        unsafe mdb_dbi_open(transaction, nil, flags, &index)
      }
    if status == MDB_NOTFOUND {
      throw LMDBError(.databaseNotFound, operation: operation, message: "the environment has no database of this name")
    }
    try check(status, operation)
    var actual: UInt32 = 0
    try check(unsafe mdb_dbi_flags(transaction, index, &actual), operation)
    if (actual ^ flags) & UInt32(MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED) != 0 {
      throw LMDBError(status: MDB_INCOMPATIBLE, operation: operation)
    }
    if actual & UInt32(MDB_INTEGERKEY) == 0 {
      try check(unsafe mdb_set_compare(transaction, index, compareKeys), operation)
    }
    if actual & UInt32(MDB_DUPSORT) != 0 {
      try check(unsafe mdb_set_dupsort(transaction, index, compareKeys), operation)
    }
    return index
  }
}
