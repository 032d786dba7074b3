import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Locking

/// Opens LMDB's files in the directory. Only the registry calls this, with its lock held.
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
    // LMDB requires the close after a failed opening, too.
    unsafe mdb_env_close(handle)
    throw error
  }
  return unsafe Environment(handle: handle, directory: directory, options: options)
}

/// Reserves disk space for the lock file. LMDB writes to the file through a memory map, so a page without space would
/// kill the process.
///
/// Call this only while this process does not have the environment open. Closing the descriptor drops all locks of
/// the process on the file, and LMDB relies on them.
private func reserveLockFile(in directory: String, readers: Int, _ operation: String) throws(LMDBError) {
  #if canImport(Glibc)
    let descriptor = unsafe open("\(directory)/lock.mdb", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    // LMDB meets the same error when it opens the file, and decides whether it matters.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // One 64-byte cache line for each reader and a header. LMDB extends the file if this is too short.
    let status = posix_fallocate(descriptor, 0, off_t(64 * (readers + 2)))
    if status == ENOSPC || status == EDQUOT { throw LMDBError(status: status, operation: operation) }
  #endif
}

/// Opens the unnamed database. It always exists, but has no comparison function until it is opened, and a lookup
/// would call a null pointer.
private func prepareMainDatabase(_ handle: OpaquePointer, _ operation: String) throws(LMDBError) {
  var transaction: OpaquePointer?
  var index: MDB_dbi = 0
  try check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction), operation)
  let status = unsafe mdb_dbi_open(transaction, nil, 0, &index)
  unsafe mdb_txn_abort(transaction)
  try check(status, operation)
}

/// Throws if pages that are in use are missing at the end of the file. LMDB opens such a file, and reading a missing
/// page kills the process.
///
/// A file that is shorter than its newest meta page states may be sound, if only free pages are missing. Only a check
/// of the whole file tells.
private func requireWholeFile(_ handle: OpaquePointer, _ directory: String, _ operation: String) throws(LMDBError) {
  var descriptor: mdb_filehandle_t = -1
  var information = unsafe MDB_envinfo()
  var statistics = MDB_stat()
  try check(unsafe mdb_env_get_fd(handle, &descriptor), operation)
  try check(unsafe mdb_env_info(handle, &information), operation)
  try check(unsafe mdb_env_stat(handle, &statistics), operation)
  // The order matters: read the last page number before the file size. Other processes may write in between, but they
  // only extend the file.
  let size = Int(try fileStatus(descriptor, operation: operation).st_size)
  let pages = unsafe information.me_last_pgno &+ 1
  let (expected, isTooLong) = pages.multipliedReportingOverflow(by: Int(statistics.ms_psize))
  // The two meta pages are always in use. A smaller number is a damaged one that overflowed.
  if pages >= 2, !isTooLong, size >= expected { return }
  let found: Result<Int, DataFileDamage>
  do throws(SystemError) {
    found = try DataFileCheck.run("\(directory)/data.mdb")
  } catch {
    throw LMDBError(status: error.status, operation: operation)
  }
  if case .failure(let damage) = found { throw LMDBError(.truncated, operation: operation, message: "\(damage)") }
}

extension EnvironmentOptions {
  /// The flags for LMDB.
  ///
  /// Reader slots are never thread-local, because Swift tasks may read twice on one thread. The map is never
  /// writable: a stray pointer would change the file, and a full disk would kill the process.
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

  /// Throws if an option is out of range.
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
