import CLMDB

extension Environment {
  /// Returns the limits and the size of the environment after the last commit. O(1); begins no transaction.
  package func information() throws(LMDBError) -> EnvironmentInformation {
    try whileOpen("read information") { () throws(LMDBError) in
      var information = unsafe MDB_envinfo()
      var statistics = MDB_stat()
      var descriptor: mdb_filehandle_t = -1
      try check(unsafe mdb_env_info(handle, &information), "read information")
      try check(unsafe mdb_env_stat(handle, &statistics), "read information")
      try check(unsafe mdb_env_get_fd(handle, &descriptor), "read information")
      let file = try fileStatus(descriptor, operation: "read information")
      return unsafe EnvironmentInformation(information, statistics, fileSize: Int(file.st_size))
    }
  }

  /// Returns the number of free pages. Some cannot be reused yet, because a reader may see them.
  ///
  /// O(n) for n commits that freed these pages, so do not call this after every commit.
  package func freePageCount() throws(LMDBError) -> Int {
    try withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: freeList)
      var count = 0
      while try cursor.moveToNext() {
        // An entry is a list of page numbers, preceded by its length.
        if let pages = cursor.value, pages.byteCount >= MemoryLayout<UInt>.size {
          count += Int(unsafe pages.unsafeLoadUnaligned(as: UInt.self))
        }
      }
      return count
    }
  }

  /// The database in which LMDB lists free pages. Its statistics count the pages of the list, not the free pages.
  package var freeList: IntegerDatabase { .freeList }

  /// The unnamed database, which contains the names of the others and the entries stored without a name.
  package var mainDatabase: Database { .main }

  /// Waits until all commits are on disk. With `force`, also writes to disk if the durability is `noSync` or
  /// `noMetaSync`.
  package func synchronize(force: Bool = true) throws(LMDBError) {
    let operation = LMDBError.synchronizeOperation
    try whileOpen(operation) { () throws(LMDBError) in
      if options.isReadOnly {
        throw LMDBError(.readOnly, operation: operation, message: "the environment is read-only")
      }
      try check(unsafe mdb_env_sync(handle, force ? 1 : 0), operation)
    }
  }
}
