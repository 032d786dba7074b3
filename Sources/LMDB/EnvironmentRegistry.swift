import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The environments that are open in this process, with one entry for each lock file.
///
/// Only the registry opens and closes LMDB's files. Closing any descriptor of a lock file drops all locks of the
/// process on it.
final class EnvironmentRegistry: Sendable {
  static let shared = EnvironmentRegistry()

  private struct Entry: Sendable {
    let environment: Environment
    let files: EnvironmentFiles
    /// The number of openings that were not closed. It is zero while the last one closes.
    var owners = 1
  }

  private enum Attempt: Sendable {
    case opened(Environment)
    /// The environment of this directory is closing. The caller must wait outside the lock.
    case closing
  }

  private let entries = Guarded<[Entry]>([])

  func open(directory: String, options: EnvironmentOptions) throws(LMDBError) -> Environment {
    try options.validate()
    try prepareDirectory(directory, isReadOnly: options.isReadOnly)
    var turn = 0
    while true {
      let attempt = try entries.withLock { (entries) throws(LMDBError) -> Attempt in
        // Inherited environments are dropped without being closed, because closing them would damage the parent's.
        entries.removeAll { $0.environment.isInherited }
        let files = EnvironmentFiles(in: directory)
        if let index = entries.firstIndex(where: { $0.files.overlap(files) }) {
          let entry = entries[index]
          if entry.owners == 0 { return .closing }
          try requireSame(entry, options, files, directory)
          entries[index].owners += 1
          return .opened(entry.environment)
        }
        let environment = try openEnvironment(directory: directory, options: options)
        entries.append(Entry(environment: environment, files: EnvironmentFiles(in: directory)))
        return .opened(environment)
      }
      switch attempt {
      case .opened(let environment): return environment
      case .closing: backOff(turn: &turn)
      }
    }
  }

  func close(_ environment: Environment) throws(LMDBError) {
    if environment.isInherited { throw .forked("close \(environment.directory)") }
    let isLast = try entries.withLock { (entries) throws(LMDBError) -> Bool in
      guard let index = entries.firstIndex(where: { $0.environment === environment }), entries[index].owners > 0
      else { return false }
      if entries[index].owners == 1, environment.isUsedByCurrentThread {
        throw LMDBError(
          .busy, operation: "close \(environment.directory)", message: "the calling thread is inside a transaction")
      }
      entries[index].owners -= 1
      return entries[index].owners == 0
    }
    guard isLast else { return }
    environment.drainAndClose()
    entries.withLock { $0.removeAll { $0.environment === environment } }
  }

  /// Throws if a second opening has other options than the first, or would open a different file.
  private func requireSame(
    _ entry: Entry, _ options: EnvironmentOptions, _ files: EnvironmentFiles, _ directory: String
  ) throws(LMDBError) {
    let reason: String
    if entry.files != files {
      reason = "this process has the directory open, and one of its files was removed or replaced since then"
    } else if entry.environment.options != options {
      reason = "this process has the directory open with other options: \(entry.environment.options), not \(options)"
    } else {
      return
    }
    throw LMDBError(.conflictingOpen, operation: "open \(directory)", message: reason)
  }
}
