import CLMDB

extension Environment {
  /// Whether the data file that is open is the one that lies in the directory now: another process may have replaced it.
  package func isInPlace() throws(LMDBError) -> Bool {
    try whileOpen("look at the data file") { () throws(LMDBError) in
      var descriptor: mdb_filehandle_t = -1
      try check(unsafe mdb_env_get_fd(handle, &descriptor), "look at the data file")
      let own = try fileStatus(descriptor, operation: "look at the data file")
      do throws(LMDBError) {
        let there = try fileStatus("\(directory)/data.mdb", operation: "look at the data file")
        return own.st_dev == there.st_dev && own.st_ino == there.st_ino
      } catch {
        if error.code == .notFoundDirectory { return false }
        throw error
      }
    }
  }
}
