import Locking

extension DiskRegistry {
  /// Whether a writer thread of this process can wait for the calling thread.
  ///
  /// Two kinds of threads must therefore not wait for a writer thread, also not for that of another directory:
  /// - A writer thread, which runs handlers of reports and of record losses.
  /// - A thread that reads a file, for example in a body of `withBytes`. A writer thread closes a file only after its
  ///   readers.
  var isCallerAwaited: Bool {
    if Writer.current != nil { return true }
    return directories.withLock { $0.engineDirectories }.contains { $0.engine.isReadByCurrentThread }
  }
}
