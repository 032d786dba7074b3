import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Opens LMDB's files in the directory. Only the registry calls it, with its lock held.
func openEnvironment(directory: String, options: EnvironmentOptions) throws(LMDBError) -> Environment {
  let operation = "open \(directory)"
  var created: OpaquePointer?
  try check(unsafe mdb_env_create(&created), operation)
  guard let handle = unsafe created else { throw LMDBError(status: ENOMEM, operation: operation) }
  do throws(LMDBError) {
    try check(unsafe mdb_env_set_mapsize(handle, options.mapSize), operation)
    try check(unsafe mdb_env_set_maxdbs(handle, MDB_dbi(options.maximumDatabases)), operation)
    try check(unsafe mdb_env_set_maxreaders(handle, UInt32(options.maximumReaders)), operation)
    try reserveLockFile(in: directory, readers: options.maximumReaders, operation)
    try check(unsafe mdb_env_open(handle, directory, options.flags, 0o600), operation)
    unsafe try requireWholeFile(handle, directory, operation)
    unsafe try prepareMainDatabase(handle, operation)
  } catch {
    // Also after a failed opening: LMDB leaves what it had begun to the closing.
    unsafe mdb_env_close(handle)
    throw error
  }
  return unsafe Environment(handle: handle, directory: directory, options: options)
}

/// Has the file system set aside room for the lock file. LMDB writes to it through a map: a page of it for which there is no
/// room would end the process, at the opening or when more readers come than ever before.
///
/// Only while this process does not have the environment open: closing the descriptor drops the process's locks on the
/// file, which LMDB relies on.
private func reserveLockFile(in directory: String, readers: Int, _ operation: String) throws(LMDBError) {
  #if canImport(Glibc)
    let descriptor = unsafe open("\(directory)/lock.mdb", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    // Whatever keeps it from being opened, LMDB meets as well, and knows whether it matters.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // A line of the processor's cache for each reader, and three before them; LMDB lengthens what is too short.
    let status = posix_fallocate(descriptor, 0, off_t(64 * (readers + 2)))
    if status == ENOSPC || status == EDQUOT { throw LMDBError(status: status, operation: operation) }
  #endif
}

/// Opens the table without a name, which exists without being opened, but has no order of keys until then: looking a key
/// up in it would call a function that is not there.
private func prepareMainDatabase(_ handle: OpaquePointer, _ operation: String) throws(LMDBError) {
  var transaction: OpaquePointer?
  var index: MDB_dbi = 0
  try check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction), operation)
  let status = unsafe mdb_dbi_open(transaction, nil, 0, &index)
  unsafe mdb_txn_abort(transaction)
  try check(status, operation)
}

/// Throws where the file is shorter than its newest meta page says: LMDB opens such a file, and reading what is missing
/// kills the process. A file may be sound all the same, where what it lacks is free; that takes a look at all of it.
private func requireWholeFile(_ handle: OpaquePointer, _ directory: String, _ operation: String) throws(LMDBError) {
  var descriptor: mdb_filehandle_t = -1
  var information = unsafe MDB_envinfo()
  var statistics = MDB_stat()
  try check(unsafe mdb_env_get_fd(handle, &descriptor), operation)
  try check(unsafe mdb_env_info(handle, &information), operation)
  try check(unsafe mdb_env_stat(handle, &statistics), operation)
  // The size is read after the last page was: other processes may write meanwhile, and only ever lengthen the file.
  let size = Int(try fileStatus(descriptor, operation: operation).st_size)
  let pages = unsafe information.me_last_pgno &+ 1
  let (expected, isTooLong) = pages.multipliedReportingOverflow(by: Int(statistics.ms_psize))
  // Two meta pages are always in use; fewer is a damaged number that went past the largest.
  if pages >= 2, !isTooLong, size >= expected { return }
  do {
    _ = try DataFileCheck.run("\(directory)/data.mdb")
  } catch {
    throw LMDBError(.truncated, operation: operation, message: "\(error)")
  }
}

extension EnvironmentOptions {
  /// LMDB's flags. Always without thread-local readers: Swift's tasks may read twice on one thread. Never a writable
  /// map: a stray pointer would reach the file, and a full disk kill the process.
  var flags: UInt32 {
    var flags = MDB_NOTLS
    if isReadOnly { flags |= MDB_RDONLY }
    if !readsAhead { flags |= MDB_NORDAHEAD }
    switch durability {
    case .sync: break
    case .noMetaSync: flags |= MDB_NOMETASYNC
    case .noSync: flags |= MDB_NOSYNC
    }
    return UInt32(flags)
  }

  /// Throws where an option cannot be.
  func validate() throws(LMDBError) {
    func require(_ holds: Bool, _ rule: String) throws(LMDBError) {
      if !holds { throw LMDBError(.invalidArgument, operation: "open", message: rule) }
    }
    try require(mapSize >= 1 << 16, "mapSize must be 65,536 bytes or more; it is \(mapSize)")
    try require(
      (0...10_000).contains(maximumDatabases), "maximumDatabases must be 0 to 10,000; it is \(maximumDatabases)")
    try require(
      (512...1_000_000).contains(maximumReaders), "maximumReaders must be 512 to 1,000,000; it is \(maximumReaders)")
  }
}
