import CisternCore
import LMDB

extension DiskTier {
  /// Replaces the data file of a store with a copy that is as small as its records allow.
  ///
  /// Records that were removed or invalidated, and are still in the file, are removed first. A file that cannot be
  /// used stays unchanged, and the error has the reason. If the process ends at any time, the file or its copy is
  /// there, complete.
  ///
  /// - Parameter directory: The directory of the store. No process may have the store open.
  /// - Returns: The size of the file before and after, and the number of damaged records, which the copy omits.
  /// - Throws: ``CisternError`` if the directory has no store, the store is open, or the file cannot be used or
  ///   copied.
  /// - Complexity: O(*n*), where *n* is the size of the file. The device must have room for both files.
  package static func compact(
    directory: String
  ) throws(CisternError) -> (before: ByteCount, after: ByteCount, damagedCount: Int) {
    let limit = try recordedLimit(in: directory)
    let path = "\(directory)/\(DiskDirectory.data)"
    guard let limit, let before = DiskDirectory.fileSize(path) else {
      throw CisternError(.directoryUnusable, "the directory contains no store", location: directory)
    }
    let damagedCount = try DiskRegistry.shared.withoutEngine(in: directory) { () throws(CisternError) in
      do {
        let claim = try DirectoryClaim(directory: directory, isReadOnly: false)
        return try claim.withGate({ $0 as any Error }) { () throws(any Error) in
          defer { claim.leave() }
          guard claim.isAlone() else { throw inUse(directory) }
          return try compactAlone(directory, DiskOptions(limit: limit), claim)
        }
      } catch let error as CisternError {
        throw error
      } catch {
        throw CisternError(.diskFailed, "the store could not be compacted", location: directory, cause: error)
      }
    }
    return (.bytes(before), .bytes(DiskDirectory.fileSize(path) ?? 0), damagedCount)
  }

  /// Returns the number of damaged records, which the copy omits.
  private static func compactAlone(
    _ directory: String, _ options: DiskOptions, _ claim: DirectoryClaim
  ) throws -> Int {
    var opening = DiskOpening(
      directory: directory, options: options, limits: try DiskLimits(options.limit, location: directory))
    let mark = try claim.readMark()
    if let reason = try opening.markUntrusted(mark) {
      throw CisternError(
        .diskFailed, "the data file cannot be used: \(reason); it was not changed", location: directory)
    }
    try requireSoundStructure(opening)
    let file = try DiskFile.open(
      directory: directory,
      options: opening.environmentOptions(mapSize: opening.currentMapSize + purgeRoom * DiskLimits.pageSize),
      layout: .any(beginning: options.layoutOfNewFile), checkingRows: true)
    guard opening.isReadable(file, mark?.file.identity) else {
      try file.close()
      throw CisternError(
        .diskFailed, "the data file belongs to another store; the next opening sets it aside", location: directory)
    }
    let former = DataFileFingerprint(of: opening.path)
    let damagedCount: Int
    do {
      // The file is about to change. If the process ends before the copy replaces it, the next opening checks its
      // pages. A copy restarts LMDB's transaction numbers, so the history does not apply to it.
      claim.forgetDataFile()
      try file.purge(upTo: max(1, opening.limits.pagesPerTransaction / 4))
      damagedCount = try file.replaceByCopy()
    } catch {
      // The first error is the one to report, so an error of the closing is ignored.
      try? file.close()
      // The former mark still describes an unchanged file.
      if let mark, DataFileFingerprint(of: opening.path) == former { try? claim.write(mark) }
      throw error
    }
    // The copy is synchronized.
    try claim.write(
      BootMark(
        state: .sound, boot: currentBoot(), limit: options.limit.bytes,
        file: MarkedFile(at: opening.path, identity: file.identity)))
    return damagedCount
  }

  /// The number of pages that the file may grow by. A removal copies the pages that it changes, even in a full
  /// file.
  private static let purgeRoom = 1024

  /// Throws if LMDB must not open the file.
  ///
  /// Checks the pages even if the fingerprint is unchanged, because the device may have changed bytes.
  private static func requireSoundStructure(_ opening: DiskOpening) throws(CisternError) {
    let damage: String
    if DiskDirectory.fileSize(opening.path) == 0 {
      damage = "it is empty"
    } else if case .failure(let found) = try opening.checkStructure() {
      damage = "\(found)"
    } else {
      return
    }
    throw CisternError(
      .diskFailed, "the data file is damaged: \(damage); it was not changed", location: opening.directory)
  }

  private static func inUse(_ directory: String) -> CisternError {
    CisternError(.storeInUse, "another process has the store open; close it there first", location: directory)
  }
}
