import CLMDB

extension Environment {
  /// Returns whether the open data file is still the one in the directory. Another process may have replaced it.
  package func isInPlace() throws(LMDBError) -> Bool {
    let operation = "examine the data file"
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

  /// Returns whether the open lock file is still the one in the directory.
  ///
  /// Processes with different lock files do not see one another's locks.
  package func isLockInPlace() -> Bool {
    EnvironmentFiles(in: directory).lock == files.lock
  }

  /// Calls `body` with the descriptor of the data file. LMDB owns the descriptor, so `body` must not close it.
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
