import CisternCore
import LMDB
import Locking

// The rules for the mark of a file that is opened for writing. An opening follows them, and so does an open store that
// opens its file again.

extension DiskOpening {
  /// The mark of a file that is being opened for writing.
  struct Marking {
    /// The mark that was there. Nil if it was missing.
    let former: BootMark?
    /// The mark under which this process can change the file, or begin one.
    fileprivate(set) var current: BootMark
    /// The identity of the file if this process begins it.
    let newIdentity: StoreIdentity
    /// Whether no other process has the store open.
    let isAlone: Bool
    /// Whether the opening may have written to the file. The time of a change is too coarse to tell.
    var mayHaveChangedFile = false

    /// Whether the contents of the file are known to be sound: this process has checked them, or the mark vouches for
    /// them.
    var isTrusted: Bool { isAlone || former?.file.fingerprint != nil }
  }

  /// Examines the data file, sets it aside if it cannot be trusted, and writes the mark under which LMDB can change it.
  ///
  /// The mark is written before the file changes or begins, because a power cut could tear the file. Call this method
  /// only inside the gate. Call ``DirectoryClaim/share()`` afterwards.
  mutating func beginMarking(_ claim: DirectoryClaim) throws(CisternError) -> Marking {
    let former = try system { () throws(SystemError) in try claim.readMark() }
    // Later steps use the identifier, and cannot fail.
    _ = try system { () throws(SystemError) in try BootSession.identifier() }
    let isAlone = claim.isAlone()
    if isAlone { DiskDirectory.removeCopy(in: directory) } else { try requireLimit(of: former) }
    if isAlone, let reason = try markUntrusted(former) { try setAside(reason) } else { compareHistory(former) }
    let newIdentity = StoreIdentity()
    let begins = (DiskDirectory.fileSize(path) ?? 0) == 0
    // Processes that still write a removed file count its transactions in the lock file. They follow the new one.
    if begins { try system { () throws(SystemError) in try DiskDirectory.removeLock(in: directory) } }
    let current =
      begins ? newMark(newIdentity, after: former, isAlone: isAlone) : markForWriting(former, isAlone: isAlone)
    // A valid mark is on the device.
    let isValid = former?.isValid(for: current.file.fingerprint, limit: limits.limit) ?? false
    if options.durability == .processCrash || !isValid { try write(current, claim, isNew: former == nil) }
    return Marking(former: former, current: current, newIdentity: newIdentity, isAlone: isAlone)
  }

  /// Writes the file's identity into the mark if the two differ.
  ///
  /// The file is then from an older version, or replaces one that could not be used. Its history begins here.
  func agree(on file: DiskFile, _ marking: inout Marking, _ claim: DirectoryClaim) throws(CisternError) {
    guard file.identity != marking.current.file.identity else { return }
    if file.isNew {
      marking.current = newMark(file.identity, after: marking.former, isAlone: marking.isAlone)
    } else {
      marking.current.file = MarkedFile(identity: file.identity)
    }
    try write(marking.current, claim, isNew: false)
  }

  /// Synchronizes the earlier commits if this process synchronizes its own ones, and marks the file as sound.
  func synchronizeFormerCommits(_ file: DiskFile, _ marking: inout Marking, _ claim: DirectoryClaim)
    throws(CisternError)
  {
    // Other processes can write commits that they do not synchronize.
    guard marking.isAlone, options.durability == .powerCut, marking.current.state == .unsynchronized else { return }
    try synchronize(file, claim)
    marking.current.state = .sound
    try write(marking.current, claim, isNew: false)
  }

  func write(_ mark: BootMark, _ claim: DirectoryClaim, isNew: Bool) throws(CisternError) {
    try system { () throws(SystemError) in
      try claim.write(mark)
      if isNew { try DiskDirectory.synchronize(directory) }
    }
  }

  /// Writes the former mark back after an opening that failed and left the file as it was.
  ///
  /// The mark of the opening would let a file that was closed as sound count as torn after the next boot.
  func restoreMark(_ marking: Marking, _ claim: DirectoryClaim) {
    guard marking.isAlone, !marking.mayHaveChangedFile, let former = marking.former, former != marking.current,
      former.file.fingerprint != nil, former.file.fingerprint == DataFileFingerprint(of: path)
    else { return }
    // The error of the opening is the one to report.
    try? claim.write(former)
  }

  /// Throws if the file has a format that this version does not know, and another process has it open.
  ///
  /// The file is in use by a later version, so it is not set aside. The former mark is then back.
  func requireKnownFormat(
    _ error: LMDBError, _ marking: Marking, _ claim: DirectoryClaim
  ) throws(CisternError) {
    guard error.code == .versionMismatch, !marking.isAlone else { return }
    if let mark = marking.former { try write(mark, claim, isNew: false) }
    throw CisternError(
      .storeInUse,
      "another process has the store open, and its data file has a format that this version of the library does not know",
      location: directory, cause: error, remedy: "Use the same version in both processes, or another directory")
  }

  /// Returns the mark of a data file that begins. The distrust of a former file does not concern it.
  private func newMark(_ identity: StoreIdentity?, after former: BootMark?, isAlone: Bool) -> BootMark {
    // A sound mark shows that the other processes synchronize their commits.
    let isSynchronized = options.durability == .powerCut && (isAlone || former?.state == .sound)
    return BootMark(
      state: isSynchronized ? .sound : .unsynchronized, boot: currentBoot(), limit: limits.limit,
      file: MarkedFile(identity: identity))
  }

  /// Returns the mark under which this process can change an existing file.
  private func markForWriting(_ former: BootMark?, isAlone: Bool) -> BootMark {
    var mark = former ?? newMark(nil, after: nil, isAlone: isAlone)
    mark.limit = limits.limit
    // If this process is alone, the file was checked. Otherwise the processes that have it open vouch for it in the
    // mark.
    if isAlone { mark.file.fingerprint = DataFileFingerprint(of: path) }
    // A distrusted file that other processes use is not set aside. The mark keeps the distrust.
    guard mark.isTrustworthy(boot: currentBoot()) else { return mark }
    // The mark must say `unsynchronized` before the first write that a power cut could tear. It keeps this state while
    // other processes can write such commits.
    if options.durability == .processCrash { mark.state = .unsynchronized }
    mark.boot = currentBoot()
    return mark
  }

  /// Throws if the processes that have the store open use another limit. The map of a file must have one size in all of
  /// them.
  private func requireLimit(of mark: BootMark?) throws(CisternError) {
    guard let mark, mark.limit != limits.limit else { return }
    let reason =
      mark.state == .unreadable
      ? "another process has the store open, and the mark of the data file is damaged; close the store there first"
      : "another process has the store open with a disk limit of \(mark.limit) bytes; open it with the same limit"
    throw CisternError(.storeInUse, reason, location: directory)
  }

  /// Writes the commits of a store that did not synchronize them through to the device.
  private func synchronize(_ file: DiskFile, _ claim: DirectoryClaim) throws(CisternError) {
    do throws(LMDBError) {
      if let fault = options.faults.atSynchronization() { throw fault.error(of: LMDBError.synchronizeOperation) }
      try file.environment.synchronize(force: true)
    } catch {
      claim.noteFailedSynchronization()
      throw cisternError(error)
    }
  }
}
