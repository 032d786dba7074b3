import Locking

extension DiskRegistry {
  /// Whether a writer thread of this process, or one that closes a file, can wait for the calling thread.
  ///
  /// Two kinds of threads must therefore wait neither for a writer thread nor for the readers of a file, in any
  /// directory:
  /// - A writer thread, which runs handlers of reports and of record losses.
  /// - A thread that reads a file, for example in a body of `withBytes`. A file is closed only after its readers.
  var isCallerAwaited: Bool {
    if Writer.current != nil { return true }
    return directories.withLock { $0.engineDirectories }.contains { $0.engine.isReadByCurrentThread }
  }
}
