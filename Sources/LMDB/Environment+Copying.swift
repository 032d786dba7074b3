import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Environment {
  /// Writes a snapshot to `data.mdb` in the directory, and returns when the copy is on disk.
  ///
  /// A missing directory is created. If an error occurs, the incomplete file is removed.
  ///
  /// A compacting copy does not wait for writers and does not block them. Without compaction, LMDB holds the write
  /// lock while it copies the meta pages. In both cases, the pages of the snapshot cannot be reused during the copy.
  ///
  /// - Parameters:
  ///   - directory: The directory, which must not contain `data.mdb`.
  ///   - compacting: Whether to omit free pages. Only a compacting copy makes a file smaller.
  ///   - stop: A signal that ends the copy early.
  /// - Throws: ``LMDBError`` if the file exists or cannot be written, or if the copy was stopped.
  package func copy(to directory: String, compacting: Bool, until stop: CopyStop? = nil) throws(LMDBError) {
    let operation = "copy to \(directory)"
    try prepareDirectory(directory, isReadOnly: false)
    let path = "\(directory)/data.mdb"
    try whileOpen(operation) { () throws(LMDBError) in
      let descriptor = try createFile(path, operation: operation)
      stop?.begin(descriptor)
      var status = unsafe mdb_env_copyfd2(handle, descriptor, UInt32(compacting ? MDB_CP_COMPACT : 0))
      stop?.end()
      if status == MDB_SUCCESS, stop?.isStopped == true { status = ECANCELED }
      if status == MDB_SUCCESS, fsync(descriptor) != 0 { status = errno }
      if closeFile(descriptor) != 0, status == MDB_SUCCESS { status = errno }
      if status != MDB_SUCCESS {
        unsafe unlink(path)
        throw LMDBError(status: status, operation: operation)
      }
    }
  }
}
