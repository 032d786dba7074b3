import CisternCore
import LMDB

extension DiskOpening {
  /// Compares the data file with the history in its mark. Reports contents that are missing, or older than the
  /// history.
  ///
  /// Reports nothing if the file is unchanged since the store closed it.
  ///
  /// - Complexity: O(1).
  mutating func compareHistory(_ mark: BootMark?) {
    guard let mark, mark.file.identity != nil, let noted = mark.file.history else { return }
    guard let head = DataFileHead(of: path) else {
      if (DiskDirectory.fileSize(path) ?? 0) == 0 {
        historyReport = StoreReport(
          .filesReplaced, "the data file was removed or emptied; the store continues without the values in it",
          location: directory)
      }
      return
    }
    guard head.isOlder(than: noted), !isUndoneByPowerCut(head, noted, mark) else { return }
    historyReport = StoreReport(
      .rolledBack,
      "the data file is at commit \(head.transaction), but the store left it at commit \(noted.transaction); "
        + "values that were removed or replaced in between may be back", location: directory)
  }

  /// Withdraws the report of older contents, because the store does not use the file.
  mutating func withdrawRollback() {
    if historyReport?.code == .rolledBack { historyReport = nil }
  }

  /// Returns whether a power cut can have undone the newest commit, although the mark has it.
  private func isUndoneByPowerCut(_ head: DataFileHead, _ noted: DataFileHistory, _ mark: BootMark) -> Bool {
    head.transaction &+ 1 == noted.transaction && (mark.boot.isEmpty || mark.boot != currentBoot())
  }

  /// Sets the file aside if it belongs to another store than the mark. Gives an identity to a file of an older
  /// version.
  ///
  /// Another process may still use the former file. At its next commit, that process detects the replacement. If the
  /// file has no identity and another process has the store open, the file stays, because that process may use it.
  mutating func requireIdentity(
    _ file: DiskFile, _ marking: Marking, _ claim: DirectoryClaim
  ) throws(LMDBError) -> DiskFile {
    let expected = marking.former?.file.identity
    if file.isNew || (file.identity != nil && (expected == nil || file.identity == expected)) { return file }
    if file.identity == nil, expected == nil || !marking.isAlone {
      let faults = options.faults
      try notingLostPages(claim) { () throws(LMDBError) in
        if let fault = faults.atSynchronization() { throw fault.error(of: LMDBError.synchronizeOperation) }
        try file.assignIdentity()
      }
      return file
    }
    try file.close()
    do {
      try setAside("it belongs to another store")
    } catch {
      throw LMDBError(.ioError, operation: "set another store's file aside", message: "\(error)")
    }
    return try DiskFile.open(
      directory: directory, options: environmentOptions(), layout: .only(options.layoutOfNewFile))
  }

  /// Stores every name of a cache in normalization form C.
  ///
  /// If this fails, caches with other spellings of their names are not found. The next commit fails for the same
  /// reason.
  mutating func normalizeNames(of file: DiskFile, _ claim: DirectoryClaim) {
    let faults = options.faults
    try? notingLostPages(claim) { () throws(LMDBError) in
      try file.normalizeNames { () throws(LMDBError) in
        if let fault = faults.atCommit() { throw fault.error(of: LMDBError.commitOperation) }
      }
    }
  }

  /// Calls `body`, which changes a file that is being opened. Notes an error after which the device may lack pages.
  ///
  /// Linux reports lost pages once. The next opening checks the file, or sets it aside if it has commits without
  /// synchronization.
  private mutating func notingLostPages(
    _ claim: DirectoryClaim, _ body: () throws(LMDBError) -> Void
  ) throws(LMDBError) {
    do throws(LMDBError) {
      try body()
    } catch {
      // A commit without synchronization writes no page through.
      let writesThrough = options.durability == .powerCut || error.operation == LMDBError.synchronizeOperation
      if writesThrough, error.canReportLostPages {
        mayLackPages = true
        claim.note(nil)
        claim.noteFailedSynchronization()
      }
      throw error
    }
  }

  /// Returns whether a read-only store can use the file. A file that belongs to another store than the mark is not
  /// used.
  func isReadable(_ file: DiskFile, _ expected: StoreIdentity?) -> Bool {
    expected == nil || file.identity == expected
  }
}
