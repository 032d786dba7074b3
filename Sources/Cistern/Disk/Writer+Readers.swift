import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Writer {
  /// Frees the slots of readers whose processes died, once in many rounds: each keeps every page from its snapshot on.
  func checkReadersNowAndThen() {
    roundsSinceReaderCheck += 1
    guard roundsSinceReaderCheck >= Writer.roundsBetweenReaderChecks, let file = engine.file else { return }
    roundsSinceReaderCheck = 0
    do {
      try file.environment.clearStaleReaders()
    } catch {
      engine.noteReadFailure(error, of: file.environment)
    }
  }

  /// The map is full: if that is because of a reader, evicting would empty the store for nothing. Waits for it, and after
  /// a while reports it and throws.
  func waitForReaders(of file: DiskFile) throws(LMDBError) {
    try file.environment.clearStaleReaders()
    let start = monotonicNanoseconds()
    let patience = engine.options.readerPatience.clampedNanoseconds
    guard let reader = try hinderingReader(of: file) else { return }
    while monotonicNanoseconds() - start < patience {
      usleep(1000)
      guard try hinderingReader(of: file) == reader else { return }
    }
    if longReader != reader {
      longReader = reader
      report(
        StoreReport(
          .longReader,
          "a reader of process \(reader.process) has held its snapshot so long that the file's space cannot be used again; "
            + "the store goes on in memory only until it ends",
          location: engine.directory))
    }
    throw LMDBError(.mapFull, operation: "commit", message: "a reader of process \(reader.process) holds its snapshot")
  }

  /// The oldest reader, where it is old enough to keep pages from being used.
  private func hinderingReader(of file: DiskFile) throws(LMDBError) -> ReaderSlot? {
    let last = try file.environment.information().lastTransaction
    let old = try file.environment.readers().filter { slot in slot.transaction.map { $0 + 3 < last } ?? false }
    return old.min { ($0.transaction ?? 0) < ($1.transaction ?? 0) }
  }
}
