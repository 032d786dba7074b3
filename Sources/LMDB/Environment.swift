import CLMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An LMDB environment: a directory with a data and a lock file, mapped into this process once.
///
/// Opening the same directory again, by whatever path, gives the same environment; each opening is ended by one
/// ``close()``, and the last of these closes it. LMDB forbids two in one process: closing either would drop the locks
/// of both.
///
/// Sendable: LMDB's environment may be used by any thread but while it is opened and closed. It is opened before anyone
/// else has it, and closed when no transaction or other use is left and none can begin.
@safe
@usableFromInline
package final class Environment: Sendable {
  /// The directory, as it was named by whoever opened it first.
  package let directory: String
  /// How it was opened.
  package let options: EnvironmentOptions

  // Immutable, and LMDB's own locks guard what it points to; valid until `close` has seen the last user leave.
  @usableFromInline
  nonisolated(unsafe) let handle: OpaquePointer
  @usableFromInline
  let pool = ReaderPool()
  /// Where look-ups find the pages of the map.
  @usableFromInline
  let map = PageMap()
  @usableFromInline
  let forkWatch = ForkWatch.shared
  @usableFromInline
  let forkCount: Int
  let process: pid_t
  /// The files in the directory when they were opened.
  let files: EnvironmentFiles
  let activity = Guarded(Activity())
  /// Held while a read-only environment opens a table; LMDB leaves that to its user. Otherwise the write lock does it.
  let databaseOpening = Guarded(())

  /// Takes over an open environment. Only the registry calls it.
  init(handle: OpaquePointer, directory: String, options: EnvironmentOptions) {
    unsafe self.handle = unsafe handle
    self.directory = directory
    self.options = options
    forkCount = ForkWatch.shared.count.load(ordering: .relaxed)
    process = getpid()
    files = EnvironmentFiles(in: directory)
  }

  /// Opens the environment in `directory`, creating it (mode 0700, parents as the system's mask says) and its files
  /// (0600) unless `options` say read-only; or shares the one that is open in this process.
  ///
  /// Costs nothing that grows with the file. Throws `truncated` where the file is shorter than its pages say, and
  /// `conflictingOpen` where it is open with other options.
  package static func open(directory: String, options: EnvironmentOptions) throws(LMDBError) -> Environment {
    try EnvironmentRegistry.shared.open(directory: directory, options: options)
  }

  /// Ends one opening. The last one waits for transactions of other threads, which must be short, and closes the files;
  /// everything that begins after it throws `closed`.
  ///
  /// Throws `busy`, and changes nothing, from inside a transaction of the calling thread. Closing what is closed does
  /// nothing.
  package func close() throws(LMDBError) {
    try EnvironmentRegistry.shared.close(self)
  }

  /// Whether the environment came over a fork from another process.
  package var isInherited: Bool {
    getpid() != process || forkWatch.count.load(ordering: .relaxed) != forkCount
  }

  /// Runs `body` with the environment kept from closing.
  func whileOpen<Result>(
    _ operation: String, _ body: () throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    let thread = currentThread()
    try enter(thread, operation)
    defer { leave(thread) }
    return try body()
  }

  func enter(_ thread: UInt, _ operation: String) throws(LMDBError) {
    if isInherited { throw .forked(operation) }
    let isClosing = activity.withLock { state in
      if !state.isClosing { state.threads.append(thread) }
      return state.isClosing
    }
    if isClosing { throw .closed(operation) }
  }

  func leave(_ thread: UInt) {
    activity.withLock { $0.leave(thread) }
  }

  /// Whether the calling thread is inside a transaction or another use.
  var isUsedByCurrentThread: Bool {
    let thread = currentThread()
    return pool.lends(to: thread) || activity.withLock { $0.threads.contains(thread) }
  }

  /// Waits until nobody uses the environment and nobody can, then closes it.
  func drainAndClose() {
    activity.withLock { $0.isClosing = true }
    pool.close()
    var turn = 0
    while activity.withLock({ !$0.threads.isEmpty }) { backOff(turn: &turn) }
    unsafe mdb_env_close(handle)
  }
}

extension LMDBError {
  static func closed(_ operation: String) -> LMDBError {
    LMDBError(.closed, operation: operation, message: "the environment is closed")
  }

  static func forked(_ operation: String) -> LMDBError {
    LMDBError(.forked, operation: operation, message: "the environment belongs to the parent process")
  }
}
