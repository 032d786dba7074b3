import CLMDB

/// What an environment is, and how full.
package struct EnvironmentInformation: Sendable, Equatable {
  /// The size of the map in bytes: the file's limit.
  package let mapSize: Int
  /// Bytes of a page.
  package let pageSize: Int
  /// Pages that the file has come to, free ones included; it shrinks with none.
  package let pageCount: Int
  /// The number of the last commit.
  package let lastTransaction: UInt
  /// Reader slots, of all processes.
  package let maximumReaders: Int
  /// Reader slots ever used at once.
  package let readerCount: Int
  /// The file's length in bytes.
  package let fileSize: Int
}

extension Environment {
  /// What the environment is, and how full, as of the last commit. Constant time; takes no transaction.
  package func information() throws(LMDBError) -> EnvironmentInformation {
    try whileOpen("read information") { () throws(LMDBError) in
      var information = unsafe MDB_envinfo()
      var statistics = MDB_stat()
      var descriptor: mdb_filehandle_t = -1
      try check(unsafe mdb_env_info(handle, &information), "read information")
      try check(unsafe mdb_env_stat(handle, &statistics), "read information")
      try check(unsafe mdb_env_get_fd(handle, &descriptor), "read information")
      let file = try fileStatus(descriptor, operation: "read information")
      return unsafe EnvironmentInformation(
        mapSize: information.me_mapsize, pageSize: Int(statistics.ms_psize), pageCount: information.me_last_pgno &+ 1,
        lastTransaction: UInt(information.me_last_txnid), maximumReaders: Int(information.me_maxreaders),
        readerCount: Int(information.me_numreaders), fileSize: Int(file.st_size))
    }
  }

  /// Pages that are free for use by later commits, or by none yet because a reader may see them. Linear in the number of
  /// commits that freed them: not for every commit.
  package func freePageCount() throws(LMDBError) -> Int {
    try withRead { (transaction) throws(LMDBError) in
      var cursor = try transaction.cursor(in: freeList)
      var count = 0
      while try cursor.moveToNext() {
        // An entry is a list of pages, behind its length.
        if let pages = cursor.value, pages.byteCount >= MemoryLayout<UInt>.size {
          count += Int(unsafe pages.unsafeLoadUnaligned(as: UInt.self))
        }
      }
      return count
    }
  }

  /// LMDB's own table of free pages; its statistics tell its pages, not the free ones.
  package var freeList: IntegerDatabase { IntegerDatabase(index: 0) }

  /// LMDB's own table of the names of the others, and of what is kept without a name.
  package var mainDatabase: Database { Database(index: 1) }

  /// Waits until what was committed is on disk; with `force`, also where the durability is `noSync` or `noMetaSync`.
  package func synchronize(force: Bool = true) throws(LMDBError) {
    try whileOpen("synchronize") { () throws(LMDBError) in
      if options.isReadOnly { throw LMDBError(.readOnly, operation: "synchronize", message: "nothing is written") }
      try check(unsafe mdb_env_sync(handle, force ? 1 : 0), "synchronize")
    }
  }
}
