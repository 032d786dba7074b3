import CLMDB

extension Environment {
  /// Whether the data file that is open is the one that lies in the directory now: another process may have replaced it.
  package func isInPlace() throws(LMDBError) -> Bool {
    let operation = "look at the data file"
    return try withDataFile(operation) { (descriptor) throws(LMDBError) in
      let own = try fileStatus(descriptor, operation: operation)
      do throws(LMDBError) {
        let there = try fileStatus("\(directory)/data.mdb", operation: operation)
        return own.st_dev == there.st_dev && own.st_ino == there.st_ino
      } catch {
        if error.code == .notFoundDirectory { return false }
        throw error
      }
    }
  }

  /// Whether the lock file that is open is the one that lies in the directory now. Processes that have different ones do
  /// not see each other's locks.
  package func isLockInPlace() -> Bool {
    EnvironmentFiles(in: directory).lock == files.lock
  }

  /// Runs `body` with the descriptor of the data file, which is LMDB's own.
  func withDataFile<Result>(
    _ operation: String, _ body: (Int32) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try whileOpen(operation) { () throws(LMDBError) in
      var descriptor: mdb_filehandle_t = -1
      try check(unsafe mdb_env_get_fd(handle, &descriptor), operation)
      return try body(descriptor)
    }
  }
}
