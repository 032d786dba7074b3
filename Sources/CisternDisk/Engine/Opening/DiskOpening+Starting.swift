import CisternCore
import Locking

extension DiskOpening {
  /// Opens the store, and starts its writer thread.
  ///
  /// - Parameters:
  ///   - report: The handler of all later reports.
  ///   - owner: The owner of the handler.
  ///   - reports: The reports of the opening are appended here. If it fails, only those that a further opening does not
  ///     repeat.
  /// - Returns: The engine.
  /// - Throws: ``CisternError`` if the file cannot be opened, or the writer thread cannot be started.
  consuming func open(
    reportingTo report: @escaping @Sendable (StoreReport) -> Void, for owner: DiskOwner, _ reports: inout [StoreReport]
  ) throws(CisternError) -> DiskEngine {
    let directory = directory
    let claim: DirectoryClaim
    setFoldersAside()
    do {
      claim = try DirectoryClaim(directory: directory, isReadOnly: options.isReadOnly)
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
    let file: DiskFile?
    do throws(CisternError) {
      // An opening can create or rewrite the file, which can become larger than the process may make it.
      file = try FileSizeSignal.whileBlocked { () throws(CisternError) in try openFile(claim) }
    } catch {
      reports += reportsOfFailure
      throw error
    }
    let engine = DiskEngine(directory: directory, options: options, limits: limits, claim: claim, file: file)
    engine.counters.pagesChecked.store(pagesChecked, ordering: .relaxed)
    engine.addReporter(report, for: owner.number)
    reports += self.reports
    if let historyReport { reports.append(historyReport) }
    if options.isReadOnly { return engine }
    ExitCommit.register()
    do {
      try Writer.start(for: engine, needsNewMetaPage: mayLackPages)
    } catch {
      reports += engine.closeFile()
      throw CisternError(
        .diskFailed, "the store's writer thread could not be started", location: directory, cause: error)
    }
    return engine
  }
}
