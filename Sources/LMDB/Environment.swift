import CLMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An LMDB environment: a directory with a data file and a lock file, mapped once into this process.
///
/// All openings of a directory share one environment, even through different paths. Each opening needs one
/// ``close()``, and the last one closes the environment. LMDB forbids a second environment on the same files in a
/// process, because closing one would drop the locks of both.
///
/// The type is `Sendable` because LMDB environments are thread-safe except when they open and close. No other thread
/// has the environment during the opening. It closes when no operation is left and none can begin.
@safe
@usableFromInline
package final class Environment: Sendable {
  /// The directory, as the first opening named it.
  package let directory: String
  /// The options of the first opening.
  package let options: EnvironmentOptions

  // The pointer is immutable and LMDB synchronizes access to its target. It is valid until `drainAndClose`, which
  // waits for all operations to end.
  @usableFromInline
  nonisolated(unsafe) let handle: OpaquePointer
  @usableFromInline
  let pool = ReaderPool()
  /// The location of the mapped pages, for lookups without LMDB.
  @usableFromInline
  let map = PageMap()
  /// The places of values that lookups have learned, for each database with such values.
  let placeTables = Guarded<[PlaceTable]>([])
  @usableFromInline
  let forkCount = ForkCount.current
  let process: pid_t
  /// The identities of the files in the directory when they were opened.
  let files: EnvironmentFiles
  let activity = Guarded(Activity())
  /// Held while a read-only environment opens a database, which LMDB does not synchronize. In other environments, the
  /// write lock does so.
  let databaseOpening = Guarded(())

  /// Takes ownership of an open environment. Only the registry calls this.
  init(handle: OpaquePointer, directory: String, options: EnvironmentOptions) {
    unsafe self.handle = unsafe handle
    self.directory = directory
    self.options = options
    process = getpid()
    files = EnvironmentFiles(in: directory)
  }

  /// Opens the environment in the directory, or returns the one that is open in this process.
  ///
  /// Unless the options are read-only, a missing directory is created with mode 0700 and missing files with mode
  /// 0600. Missing parents get the mode that the system's mask allows. The time does not depend on the size of a
  /// complete file.
  ///
  /// - Throws: ``LMDBError`` with one of these codes, among others:
  ///   - `truncated` if the file is shorter than its meta page states and lacks pages that are in use.
  ///   - `conflictingOpen` if the environment is open with other options.
  package static func open(directory: String, options: EnvironmentOptions) throws(LMDBError) -> Environment {
    try EnvironmentRegistry.shared.open(directory: directory, options: options)
  }

  /// Ends one opening. The last call waits for the transactions of other threads and closes the files.
  ///
  /// Operations that begin afterwards throw `closed`. Closing a closed environment does nothing.
  ///
  /// - Throws: ``LMDBError`` with the code `busy` if the last call comes from inside a transaction of the calling
  ///   thread. Nothing changes then.
  package func close() throws(LMDBError) {
    try EnvironmentRegistry.shared.close(self)
  }

  /// Whether the environment was inherited from another process by a fork.
  package var isInherited: Bool {
    getpid() != process || ForkCount.current != forkCount
  }

  /// Calls `body` and prevents the environment from closing until it returns.
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

  /// Whether the calling thread is inside a transaction or another operation.
  package var isUsedByCurrentThread: Bool {
    let thread = currentThread()
    return pool.lends(to: thread) || activity.withLock { $0.threads.contains(thread) }
  }

  /// Rejects new operations, waits until all current ones have ended, and closes the environment.
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
    LMDBError(.forked, operation: operation, message: "the environment belongs to the parent of this forked process")
  }
}
