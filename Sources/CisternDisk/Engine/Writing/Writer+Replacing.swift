import CisternCore
import LMDB

extension Writer {
  /// Sets the unusable data file aside, and begins an empty one.
  ///
  /// The staged writes are intact, and go into the new file. The method waits for readers that are inside the old
  /// file.
  ///
  /// - Parameter error: The reason.
  /// - Returns: The commits of the open file. It has all of them if another process has replaced the former one before.
  /// - Throws: `LMDBError` if no file can be opened.
  @discardableResult
  func replaceFile(because error: LMDBError) throws(LMDBError) -> FileContinuity {
    let old = engine.file
    engine.setFile(nil)
    engine.longReads.interrupt(.fileReplaced)
    let newName: String?
    do {
      newName = try engine.withGate { () -> String? in
        // Another process may already have replaced the file. Its new file must stay as it is.
        let isOurs = try old.map { try $0.isInPlace() } ?? true
        try old?.close()
        guard isOurs else { return nil }
        // Otherwise, another process would conclude that a foreign program removed the file.
        engine.claim.forgetDataFile()
        return try DiskDirectory.setAside(in: engine.directory)
      }
    } catch let failure {
      // A file that stays open would be shared with the next opening, and would never be closed.
      try? old?.close()
      throw LMDBError(.ioError, operation: "replace the data file", message: "\(failure)")
    }
    if let newName {
      report(
        StoreReport(
          .setAside, "the data file cannot be used. It was renamed to \(newName), and an empty store was created",
          location: engine.directory, cause: error))
    }
    return try openFreshFile()
  }

  /// Continues with the current files of the directory, if another process or program has replaced or removed the
  /// open ones.
  ///
  /// - Returns: The commits of the open file.
  /// - Throws: `LMDBError` if no file can be opened.
  @discardableResult
  func followFiles() throws(LMDBError) -> FileContinuity {
    guard let file = engine.file else { return .hasAllCommits }
    let fingerprint = CheckedDirectory.fingerprint(of: engine.directory)
    if let fingerprint, checkedDirectory.isChecked(fingerprint) { return .hasAllCommits }
    let isInPlace = engine.claim.isInPlace() ? try file.isInPlace() : false
    if isInPlace, file.environment.isLockInPlace() {
      if let fingerprint { checkedDirectory.setChecked(fingerprint) }
      return .hasAllCommits
    }
    if isInPlace {
      report(
        StoreReport(
          .filesReplaced,
          "the lock file was removed or replaced while the store was open; the store uses the new one",
          location: engine.directory))
    }
    return try reopenFile()
  }

  /// Closes the file, and opens the one that is now in the directory. Returns the commits of that file.
  @discardableResult
  func reopenFile() throws(LMDBError) -> FileContinuity {
    let old = engine.file
    engine.setFile(nil)
    engine.longReads.interrupt(.fileReplaced)
    try old?.close()
    return try openFreshFile()
  }

  /// Claims the directory to which the path leads now, unless the engine has it.
  ///
  /// Throws if another engine of this process has the directory. The store then works in memory only, and tries again
  /// later.
  private func followDirectory(_ opening: inout DiskOpening) throws(LMDBError) {
    var claim = engine.claim
    let isInPlace = claim.isInPlace()
    if !isInPlace {
      // The mark alone can be missing. No other engine may then open the directory in between.
      if claim.directoryIdentity != DirectoryIdentity(ifPresent: engine.directory) {
        DiskRegistry.shared.leave(engine)
        claim.leave()
      }
      do {
        claim = try opening.claimAgain()
      } catch {
        throw LMDBError(.ioError, operation: "reopen the data file", message: "\(error)")
      }
    }
    // Also for a directory that was moved away, and then back.
    guard DiskRegistry.shared.enter(claim, for: engine) else {
      throw LMDBError(
        .conflictingOpen, operation: "reopen the data file",
        message:
          "another store of this process has the directory open to which the path \(engine.directory) leads now")
    }
    if isInPlace { return }
    opening.reportNewClaim()
    engine.claim = claim
  }

  /// Opens the data file in the directory, or begins an empty one. Returns the commits of that file.
  @discardableResult
  func openFreshFile() throws(LMDBError) -> FileContinuity {
    var options = engine.options
    options.layout = engine.layout
    var opening = DiskOpening(directory: engine.directory, options: options, limits: engine.limits)
    opening.historyReport = historyReport
    defer { for report in opening.reports { self.report(report) } }
    try followDirectory(&opening)
    let file = try reopen(&opening)
    deadGenerations = []
    extents = nil
    extraMargin = 0
    deviceRoom = DeviceRoom(engine.limits)
    let isOther = fileIdentity != nil && file.identity != fileIdentity
    // Before a reader can miss a record: an enumeration then looks for the keys that memory holds.
    if isOther { for partition in engine.partitions { partition.clearState.noteFileLoss() } }
    walk = nil
    let continuity: FileContinuity
    do {
      continuity = try follow(file)
    } catch {
      // A file that stays open would be shared with the next opening.
      try? file.close()
      throw error
    }
    // An older copy lacks commits, too. A write-through of it must not confirm them.
    if continuity == .lacksCommits { noteLostCommits() }
    engine.noteSizes(of: file)
    loadDeadGenerations()
    fileIdentity = file.identity
    if let report = historyReport.take() { self.report(report) }
    // Before the commits into the new file: all records that are left are staged.
    if isOther { for partition in engine.partitions { partition.reportFileLoss() } }
    return continuity
  }

  /// Opens the file again, and keeps the report of missing or older contents that the mark may no longer show.
  ///
  /// If this attempt fails, a later one or the close delivers the report.
  private func reopen(_ opening: inout DiskOpening) throws(LMDBError) -> DiskFile {
    do throws(LMDBError) {
      let file = try opening.reopen(engine.claim)
      historyReport = opening.historyReport
      return file
    } catch {
      // The mark names the next file before that begins. It shows older contents until the file is open.
      if opening.historyReport?.code == .filesReplaced { historyReport = opening.historyReport }
      throw error
    }
  }

  /// Makes readers use the file, after its generations and invalidations are known. Returns the commits of the file.
  ///
  /// Throws before it changes anything if it cannot compare the two.
  private func follow(_ file: DiskFile) throws(LMDBError) -> FileContinuity {
    let isSame = fileIdentity != nil && file.identity == fileIdentity
    // An invalidation that is written again would be newer than records that were committed after it.
    let continuity = isSame ? try continuity(of: file) : .lacksCommits
    // An older copy has records from before invalidations that have ended. Half of the bound stays free for new ones.
    let endedLimit = isSame ? engine.limits.invalidationBytes / 2 : 0
    for partition in engine.partitions {
      if continuity == .lacksCommits {
        let added = partition.forgetFile(repeatingEndedUpTo: endedLimit)
        engine.stagedCount.add(added, ordering: .sequentiallyConsistent)
      }
      partition.formats.forgetFile()
      engine.learnGeneration(of: partition, from: file)
    }
    engine.setFile(file)
    // A partition that was opened before `setFile` has found no file.
    learnGenerations()
    return continuity
  }

  /// Compares a file with the commits that the partitions know.
  ///
  /// A damaged file counts as one that lacks commits: the next step sets it aside. After any other error the answer is
  /// unknown.
  private func continuity(of file: DiskFile) throws(LMDBError) -> FileContinuity {
    do {
      try engine.injectFault(engine.options.faults.atComparison(), in: "compare the data file")
      for partition in engine.partitions {
        guard try partition.isContinued(by: file) else { return .lacksCommits }
      }
    } catch  where error.isAboutTheFile {
      return .lacksCommits
    }
    return .hasAllCommits
  }
}
