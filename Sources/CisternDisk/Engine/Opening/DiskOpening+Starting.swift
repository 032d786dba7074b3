import CisternCore

extension DiskOpening {
  /// Opens the store, and starts its writer thread.
  consuming func open(
    reportingTo report: @escaping @Sendable (StoreReport) -> Void, for owner: DiskOwner
  ) throws(CisternError) -> DiskEngine {
    let directory = directory
    let claim: DirectoryClaim
    setFoldersAside()
    do {
      claim = try DirectoryClaim(directory: directory, isReadOnly: options.isReadOnly)
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
    let file = try openFile(claim)
    let engine = DiskEngine(directory: directory, options: options, limits: limits, claim: claim, file: file)
    engine.counters.pagesChecked.store(pagesChecked, ordering: .relaxed)
    engine.addReporter(report, for: owner.number)
    for report in reports { engine.report(report) }
    if options.isReadOnly { return engine }
    ExitCommit.register()
    do {
      try Writer.start(for: engine)
    } catch {
      engine.closeFile()
      throw CisternError(
        .diskFailed, "the store's writer thread could not be started", location: directory, cause: error)
    }
    return engine
  }
}
