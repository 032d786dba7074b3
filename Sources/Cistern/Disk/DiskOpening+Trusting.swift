import LMDB

extension DiskOpening {
  /// Where the data file is, or will be.
  var path: String { "\(directory)/\(DiskDirectory.data)" }

  /// Why LMDB may not be let near the data file; nil where it may. For a file that nobody has open.
  ///
  /// A file that is as the store left it is not looked at, so that opening costs nothing that grows with it. Any other is
  /// looked through: LMDB trusts what it maps.
  mutating func distrust(_ mark: BootMark?) -> String? {
    guard let stamp = DataFileStamp(of: path) else { return nil }
    if let mark, !mark.isTrustworthy(boot: presentBoot()) {
      return mark.state == .unreadable
        ? "its mark cannot be read, so that nobody knows whether a power cut damaged it"
        : "the system went down before the store was closed, and its durability is not kept over that"
    }
    if mark?.stamp == stamp { return nil }
    do {
      pagesChecked += try DataFileCheck.run(path)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Opens what is in the directory now, for a store that is open and has let go of its file; what cannot be trusted is set
  /// aside.
  mutating func reopen(_ claim: DirectoryClaim) throws(LMDBError) -> DiskFile {
    var opening = self
    defer { self = opening }
    let environmentOptions = environmentOptions()
    let directory = directory
    do {
      return try claim.withGate({ $0 as any Error }) { () throws(any Error) -> DiskFile in
        let mark = try claim.readMark()
        let isAlone = claim.isAlone()
        // Also where it was not had: the system lets go of the old lock first.
        defer { claim.share() }
        if isAlone, let reason = opening.distrust(mark) { try opening.setAside(reason) }
        let file = try DiskFile.open(
          directory: directory, options: environmentOptions, checkingRows: opening.pagesChecked > 0)
        file.note.begin(file.environment, claim, isVouchedFor: isAlone || mark?.stamp != nil)
        return file
      }
    } catch let error as LMDBError {
      throw error
    } catch {
      throw LMDBError(.ioError, operation: "open the data file anew", message: "\(error)")
    }
  }
}
