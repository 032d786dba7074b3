import CisternCore
import LMDB
import Locking

extension DiskOpening {
  /// The path of the data file.
  var path: String { "\(directory)/\(DiskDirectory.data)" }

  /// Returns the reason why LMDB must not open the data file, or nil if it can. No process may have the file open.
  ///
  /// A file whose fingerprint is the one in the mark is not read, so that the cost does not depend on its size. The
  /// pages of any other file are checked, because LMDB trusts the contents of its map.
  ///
  /// - Throws: ``CisternError`` if the file cannot be opened for the check. The file may be sound, so it stays.
  mutating func markUntrusted(_ mark: BootMark?) throws(CisternError) -> String? {
    guard let fingerprint = DataFileFingerprint(of: path) else { return nil }
    let boot = try system { () throws(SystemError) in try BootSession.identifier() }
    if let mark, !mark.isTrustworthy(boot: boot) {
      return switch mark.state {
      case .unreadable: "its mark cannot be read, so a power cut may have damaged it"
      case .failed: "the device failed when the store wrote its commits through, and may lack pages of it"
      default: "the system stopped before the store was closed, and the store did not synchronize its commits"
      }
    }
    if mark?.file.fingerprint == fingerprint { return nil }
    switch try checkStructure() {
    case .success(let count):
      pagesChecked += count
      return nil
    case .failure(let damage): return "\(damage)"
    }
  }

  /// Checks the structure of the data file, regardless of its mark.
  ///
  /// - Returns: The number of reads, or the first damage.
  /// - Throws: ``CisternError`` if the file cannot be opened for the check.
  func checkStructure() throws(CisternError) -> Result<Int, DataFileDamage> {
    try system { () throws(SystemError) in try DataFileCheck.run(path) }
  }

  /// Renames folders that have the name of a file of the store.
  mutating func setFoldersAside() {
    if options.isReadOnly { return }
    for (name, new) in DiskDirectory.setFoldersAside(in: directory) {
      add(.setAside, "\(name) is a folder, not a file of the store. It was renamed to \(new)")
    }
  }

  /// Claims the directory again after it, or the mark in it, was removed or replaced.
  ///
  /// Other processes use the files at the path, and the old claim does not exclude them.
  mutating func claimAgain() throws(CisternError) -> DirectoryClaim {
    try DiskDirectory.prepare(directory, isReadOnly: false)
    setFoldersAside()
    do {
      return try DirectoryClaim(directory: directory, isReadOnly: false)
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
  }

  /// Adds a report of the new claim.
  mutating func reportNewClaim() {
    add(
      .filesReplaced,
      "the store's directory, or its mark file, was removed or replaced while the store was open; "
        + "the store uses the files that are there now")
  }

  /// Opens the file. If LMDB finds a defect in it, sets it aside and begins an empty one: each later attempt would find
  /// it again.
  private mutating func openOrReplace(_ claim: DirectoryClaim, _ marking: Marking) throws -> DiskFile {
    do throws(LMDBError) {
      return try DiskFile.open(
        directory: directory, options: environmentOptions(), layout: .any(beginning: options.layoutOfNewFile),
        checkingRows: pagesChecked > 0, newIdentity: marking.newIdentity)
    } catch {
      guard error.isAboutTheFile else { throw error }
      try requireKnownFormat(error, marking, claim)
      // Otherwise, another process would conclude that a foreign program removed the file.
      claim.forgetDataFile()
      try setAside("\(error)")
    }
    return try DiskFile.open(
      directory: directory, options: environmentOptions(), layout: .only(options.layoutOfNewFile),
      newIdentity: marking.newIdentity)
  }

  /// Opens the file that is in the directory now, for an open store that has closed its file.
  ///
  /// Sets aside a file that cannot be trusted.
  mutating func reopen(_ claim: DirectoryClaim) throws(LMDBError) -> DiskFile {
    var opening = self
    defer { self = opening }
    do {
      return try claim.withGate({ $0 as any Error }) { () throws(any Error) -> DiskFile in
        // Required even if the process is not alone: the attempt can release the shared lock.
        defer { claim.share() }
        var marking = try opening.beginMarking(claim)
        var file = try opening.openOrReplace(claim, marking)
        do {
          file = try opening.requireIdentity(file, marking, claim)
          if let fault = opening.options.faults.atOpening() { throw fault.error(of: "open") }
          try opening.agree(on: file, &marking, claim)
          try opening.synchronizeFormerCommits(file, &marking, claim)
        } catch {
          try? file.close()
          throw error
        }
        file.note.begin(file.environment, claim, isTrusted: marking.isTrusted)
        return file
      }
    } catch let error as LMDBError {
      throw error
    } catch {
      throw LMDBError(.ioError, operation: "reopen the data file", message: "\(error)")
    }
  }
}
