import CisternCore
import LMDB
import Locking

extension DiskOpening {
  /// Replaces a file that exceeds the limit, or has another layout, with a copy of the records that fit. Returns the
  /// open file.
  mutating func replaceIfUnsuitable(
    _ file: DiskFile, _ claim: DirectoryClaim
  ) throws(CisternError) -> DiskFile {
    let limits = limits
    let directory = directory
    let layout = options.layout(replacing: file.layout.kind)
    let suitability = try lmdb { () throws(LMDBError) in try file.suitability(for: limits) }
    if layout == file.layout.kind {
      if suitability == .suitable { return file }
      // Each opening would fill the device with a part of the copy.
      if suitability == .slow, lacksSpaceForCopy { return file }
    }
    let identity = file.identity ?? StoreIdentity()
    do {
      try replace(file, as: layout, claim)
    } catch {
      try endFailedReplacement(of: file, as: layout, suitability, claim, error)
    }
    let options = environmentOptions()
    return try lmdb { () throws(LMDBError) in
      try DiskFile.open(directory: directory, options: options, layout: .only(layout), newIdentity: identity)
    }
  }

  /// Whether the device has less space than the data file takes. False if it does not tell.
  private var lacksSpaceForCopy: Bool {
    guard let free = options.freeBytes(in: directory), let size = DiskDirectory.fileSize(path) else { return false }
    return free < size
  }

  /// Closes the file, and replaces it with a copy of the records that fit.
  private mutating func replace(_ file: DiskFile, as layout: DiskLayout, _ claim: DirectoryClaim) throws {
    let faults = options.faults
    if let fault = faults.atReplacement() { throw fault.error(of: "replace the data file") }
    try file.asSource { () throws(LMDBError) in
      if let fault = faults.atSourceReading() { throw fault.error(of: "read the data file") }
    }
    var options = environmentOptions()
    // The copy is synchronized once, at its end.
    options.durability = .noSync
    let damagedCount = try file.replaceByNewest(within: limits, as: layout, options: options) {
      // A copy restarts LMDB's transaction numbers, so the history does not apply to it. A file that stays keeps its
      // history.
      claim.forgetDataFile()
    }
    guard damagedCount > 0 else { return }
    let (records, were) = damagedCount == 1 ? ("1 record", "was") : ("\(damagedCount) records", "were")
    add(.damagedRecord, "\(records) of the data file had a wrong checksum, and \(were) removed")
  }

  /// Sets a file aside that cannot be read, and removes one that is too large and whose copy lacks room. A file that is
  /// only slow stays in use. Throws after any other error: the file stays.
  private mutating func endFailedReplacement(
    of file: DiskFile, as layout: DiskLayout, _ suitability: DiskFile.Suitability, _ claim: DirectoryClaim,
    _ failure: any Error
  ) throws(CisternError) {
    let isUnsuitable = suitability != .suitable
    let unchanged =
      isUnsuitable
      ? "the data file could not be rewritten for the disk limit and layout, and was not changed"
      : "the data file could not be converted from the layout \(file.layout.kind) to \(layout), and was not changed"
    if let error = failure as? CisternError {
      // The copy did not begin.
      throw CisternError(error.code, unchanged, location: directory, cause: error, remedy: nil)
    }
    guard let lmdbError = failure as? LMDBError else {
      throw CisternError(
        .diskFailed, "the data file could not be rewritten for the disk limit and layout", location: directory,
        cause: failure, remedy: "Check the disk")
    }
    try lmdb { () throws(LMDBError) in try file.close() }
    let error = options.diagnosis(of: lmdbError, in: directory)
    // An error of the copy, for example of its environment, says nothing about the file. A full device does not prevent
    // reads.
    if file.causes(lmdbError) {
      claim.forgetDataFile()
      return try setAside("\(lmdbError)")
    }
    let lacksSpace = error.code == .noSpace || error.code == .mapFull
    if lacksSpace, suitability == .slow, layout == file.layout.kind { return }
    // A lack of room would end each later attempt in the same way. Other errors of the copy can pass.
    guard suitability == .unsuitable, lacksSpace else {
      throw CisternError(
        error.code == .noSpace ? .noSpace : error.code == .permission ? .directoryUnusable : .diskFailed, unchanged,
        location: directory, cause: error,
        remedy: isUnsuitable
          ? "Open the store again, or with the former disk limit"
          : "Free space on the device, or open the store with diskLayout \(file.layout.kind)")
    }
    // The file has only cached values, and prevents the store from shrinking.
    claim.forgetDataFile()
    try system { () throws(SystemError) in try DiskDirectory.removeData(in: directory) }
    add(
      .setAside,
      "the data file could not be rewritten for the disk limit and layout, and was removed; the store is empty",
      cause: error)
  }
}
