import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension Environment {
  /// Writes a snapshot to `data.mdb` in the directory, which is created where it is missing; `compacting` leaves out free
  /// pages, which is the only way to make a file smaller. Returns when it is on disk.
  ///
  /// Neither waits for writers nor holds them up, but keeps its snapshot's pages from being used again meanwhile. Throws
  /// where the file exists; what was begun is removed when anything fails.
  package func copy(to directory: String, compacting: Bool) throws(LMDBError) {
    let operation = "copy to \(directory)"
    try prepareDirectory(directory, isReadOnly: false)
    let path = "\(directory)/data.mdb"
    try whileOpen(operation) { () throws(LMDBError) in
      let descriptor = try createFile(path, operation: operation)
      var status = unsafe mdb_env_copyfd2(handle, descriptor, UInt32(compacting ? MDB_CP_COMPACT : 0))
      if status == MDB_SUCCESS, fsync(descriptor) != 0 { status = errno }
      if closeFile(descriptor) != 0, status == MDB_SUCCESS { status = errno }
      if status != MDB_SUCCESS {
        unsafe unlink(path)
        throw LMDBError(status: status, operation: operation)
      }
    }
  }
}
