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

  private func freshMark(_ identity: StoreIdentity) -> BootMark {
    BootMark(
      state: options.durability == .processCrash ? .unsynchronized : .sound, boot: presentBoot(), limit: limits.limit,
      identity: identity, stamp: nil)
  }

  /// Claims the directory anew after it, or the mark in it, was removed or replaced: other processes look there.
  mutating func claimAnew() throws(CisternError) -> DirectoryClaim {
    try DiskDirectory.prepare(directory, isReadOnly: false)
    add(
      .filesReplaced,
      "the store's directory, or its mark, was removed or replaced while the store was open; "
        + "the store goes on with what is there")
    do {
      return try DirectoryClaim(directory: directory, isReadOnly: false)
    } catch {
      throw DiskDirectory.unusable(directory, error)
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
        let newIdentity = StoreIdentity()
        // Also where it was not had: the system lets go of the old lock first.
        defer { claim.share() }
        if isAlone, let reason = opening.distrust(mark) {
          try opening.setAside(reason)
        } else {
          opening.compareHistory(mark)
        }
        // Before a file is begun, as at every opening: a power cut could tear it.
        var present = mark ?? opening.freshMark(newIdentity)
        if mark == nil { try claim.write(present) }
        var file = try DiskFile.open(
          directory: directory, options: environmentOptions, checkingRows: opening.pagesChecked > 0,
          newIdentity: newIdentity)
        file = try opening.requireIdentity(file, mark?.identity, isAlone: isAlone)
        if present.identity != file.identity {
          (present.identity, present.stamp, present.history) = (file.identity, nil, nil)
          do {
            try claim.write(present)
          } catch {
            try file.close()
            throw error
          }
        }
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
