import CLMDB
import TestDirectories

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs `body` in a child process and returns its exit status, or -1 if a signal ended it.
///
/// Swift hides `fork` for a good reason: the child must not need a lock that another thread held at the fork. The first
/// run of a piece of code can need such a lock, so the parent first runs the same code on a directory of its own. An
/// alarm ends a child that is stuck.
func inChild(_ body: () -> Int32) -> Int32 {
  let fork = unsafe unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let child = fork()
  if child == 0 {
    alarm(20)
    _exit(body())
  }
  var status: Int32 = 0
  while unsafe waitpid(child, &status, 0) == -1, errno == EINTR {}
  return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
}

/// Opens a directory in a child process, in C alone, and ends the child inside a read. Returns the child's exit status.
func dieInRead(of directory: String, mapSize: Int) -> Int32 {
  let own = TemporaryDirectory()
  let status = unsafe own.path.withCString { path in
    var environment: OpaquePointer?
    var transaction: OpaquePointer?
    let result = unsafe beginRead(of: path, mapSize: mapSize, &environment, &transaction)
    if result == 0 { unsafe mdb_txn_abort(transaction) }
    unsafe mdb_env_close(environment)
    return result
  }
  guard status == 0 else { return status }
  return unsafe directory.withCString { path in
    inChild {
      var environment: OpaquePointer?
      var transaction: OpaquePointer?
      return unsafe beginRead(of: path, mapSize: mapSize, &environment, &transaction)
    }
  }
}

/// Opens a directory and begins a read, in C alone. Returns zero, or another number after an error.
private func beginRead(
  of path: UnsafePointer<CChar>, mapSize: Int, _ environment: inout OpaquePointer?,
  _ transaction: inout OpaquePointer?
) -> Int32 {
  guard unsafe mdb_env_create(&environment) == 0, unsafe mdb_env_set_mapsize(environment, mapSize) == 0,
    unsafe mdb_env_open(environment, path, UInt32(MDB_NOTLS), 0o600) == 0,
    unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction) == 0
  else { return 1 }
  return 0
}
