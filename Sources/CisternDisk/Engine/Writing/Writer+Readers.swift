import CisternCore
import LMDB
import Locking
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Writer {
  /// The number of turns of a wait for a reader, of a millisecond each, after which the readers of dead processes are
  /// cleared.
  private static let turnsBetweenReaderChecks = 10
  /// The time that a backup or a verification gets to end by itself, in nanoseconds.
  private static let longReadGrace: UInt64 = 100_000_000

  /// Frees the reader slots of dead processes, once in many commit groups. Such a slot keeps all pages since its
  /// snapshot.
  func checkReadersIfDue() {
    groupsSinceReaderCheck += 1
    guard groupsSinceReaderCheck >= Writer.groupsBetweenReaderChecks, let file = engine.file else { return }
    groupsSinceReaderCheck = 0
    do {
      try file.environment.clearStaleReaders()
    } catch {
      engine.noteReadFailure(error, of: file.environment)
    }
  }

  /// Waits for a reader that keeps the pages of a full map from reuse.
  ///
  /// If a reader holds these pages, evictions would empty the store without making room. The method returns when the
  /// last of these readers has ended, or when the oldest one has changed.
  ///
  /// - Parameters:
  ///   - file: The data file.
  ///   - lag: The number of commits since a reader's snapshot up to which the method does not wait for the reader. The
  ///     snapshot of every reader with a lag of more than zero keeps pages.
  /// - Returns: Whether there was such a reader, or one of a dead process.
  /// - Throws: `LMDBError` with the code `mapFull` if the reader outlasts the store's patience. The reader is reported
  ///   once.
  @discardableResult
  func waitForReaders(of file: DiskFile, laggingMoreThan lag: UInt = 3) throws(LMDBError) -> Bool {
    let hasCleared = try file.environment.clearStaleReaders() > 0
    let start = monotonicNanoseconds()
    let patience = engine.options.readerPatience.clampedNanoseconds
    guard let reader = try blockingReader(of: file, laggingMoreThan: lag) else { return hasCleared }
    engine.writerAwaitsReader.store(true, ordering: .releasing)
    defer { engine.writerAwaitsReader.store(false, ordering: .releasing) }
    var turns = 0
    while monotonicNanoseconds() - start < patience {
      usleep(1000)
      turns += 1
      // The process of the reader can be killed during the wait.
      if turns % Writer.turnsBetweenReaderChecks == 0, try file.environment.clearStaleReaders() > 0 { return true }
      // A backup or a verification must not stop the writes of the store. It can be repeated.
      if reader.process == getpid(), monotonicNanoseconds() - start > min(patience / 2, Writer.longReadGrace) {
        engine.longReads.interrupt(.roomNeeded)
      }
      guard try blockingReader(of: file, laggingMoreThan: lag) == reader else { return true }
    }
    if longReader != reader {
      longReader = reader
      report(
        StoreReport(
          .longReader,
          "\(holding(reader)); the store works in memory only until the read ends. End it, for example a body of withBytes",
          location: engine.directory))
    }
    throw LMDBError(.mapFull, operation: "commit", message: "a reader of process \(reader.process) holds its snapshot")
  }

  /// Returns whether a reader keeps freed pages from reuse. Frees the slots of dead processes first.
  func hasBlockingReader(of file: DiskFile) throws(LMDBError) -> Bool {
    try file.environment.clearStaleReaders()
    return try blockingReader(of: file, laggingMoreThan: 0) != nil
  }

  /// Returns the oldest reader whose snapshot is old enough to keep freed pages from reuse, or nil if none is.
  private func blockingReader(of file: DiskFile, laggingMoreThan lag: UInt) throws(LMDBError) -> ReaderSlot? {
    let last = try file.environment.information().lastTransaction
    let old = try file.environment.readers().filter { slot in slot.transaction.map { $0 + lag < last } ?? false }
    return old.min { ($0.transaction ?? 0) < ($1.transaction ?? 0) }
  }
}
