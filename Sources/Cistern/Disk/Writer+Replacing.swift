import LMDB

extension Writer {
  /// What is on disk cannot be used any more: it is set aside, and an empty file begun. What is staged is whole, and goes
  /// into that. Readers that are inside the old file finish there, and are waited for.
  func replaceFile(because error: LMDBError) throws(LMDBError) {
    let old = engine.file
    engine.setFile(nil)
    let newName: String?
    do {
      newName = try engine.claim.withGate({ $0 as any Error }) { () throws(any Error) -> String? in
        // Another process may have been faster: then its new file is there already, and is not touched.
        let isOurs = try old.map { try $0.isInPlace() } ?? true
        try old?.close()
        guard isOurs else { return nil }
        // Otherwise another process would take the file for one that some other program removed.
        engine.claim.forgetDataFile()
        return try DiskDirectory.setAside(in: engine.directory)
      }
    } catch let failure {
      throw LMDBError(.ioError, operation: "replace the data file", message: "\(failure)")
    }
    if let newName {
      report(
        StoreReport(
          .setAside, "the data file failed, and is now \(newName); an empty store was begun",
          location: engine.directory, cause: error))
    }
    try openFreshFile()
  }

  /// Continues with the files that are in the directory now, if another process or program replaced or removed the open
  /// ones.
  func followFiles() throws(LMDBError) {
    guard let file = engine.file else { return }
    let stamp = DirectoryWatch.stamp(of: engine.directory)
    if let stamp, watch.isChecked(stamp) { return }
    let isInPlace = engine.claim.isInPlace() ? try file.isInPlace() : false
    if isInPlace, file.environment.isLockInPlace() {
      if let stamp { watch.note(stamp) }
      return
    }
    if isInPlace {
      report(
        StoreReport(
          .filesReplaced,
          "the lock file was removed or replaced while the store was open; the store uses the one there",
          location: engine.directory))
    }
    try reopenFile()
  }

  /// Closes the file, and opens the one that is in the directory now.
  func reopenFile() throws(LMDBError) {
    let old = engine.file
    engine.setFile(nil)
    try old?.close()
    try openFreshFile()
  }

  /// Opens what is in the directory now, or begins it.
  func openFreshFile() throws(LMDBError) {
    var opening = DiskOpening(directory: engine.directory, options: engine.options, limits: engine.limits)
    defer { for report in opening.reports { self.report(report) } }
    if !engine.claim.isInPlace() {
      do {
        engine.claim = try opening.claimAnew()
      } catch {
        throw LMDBError(.ioError, operation: "open the data file anew", message: "\(error)")
      }
      DiskRegistry.shared.follow(engine)
    }
    let file = try opening.reopen(engine.claim)
    deadGenerations = []
    extraMargin = 0
    ceiling = nil
    // Nothing of the old file's is known of the new one.
    for partition in engine.partitions {
      engine.stagedCount.add(partition.forgetFile(), ordering: .sequentiallyConsistent)
    }
    walk = nil
    engine.setFile(file)
    for partition in engine.partitions { engine.learnGeneration(of: partition) }
    engine.noteSizes(of: file)
    loadDeadGenerations()
  }
}
