import LMDB

extension DiskTier {
  /// Makes the data file of a store as small as its records allow, by a copy that takes its place; nobody may have it
  /// open. Answers the file's size before and after.
  ///
  /// Linear in the file's size; needs room for both meanwhile. Whenever the process ends, one of the two is there, whole.
  package static func compact(directory: String) throws(CisternError) -> (before: ByteCount, after: ByteCount) {
    let limit = try recordedLimit(in: directory)
    let path = "\(directory)/\(DiskDirectory.data)"
    guard let limit, let before = DiskDirectory.fileSize(path) else {
      throw CisternError(.directoryUnusable, "there is no store in the directory", location: directory)
    }
    try DiskRegistry.shared.withoutEngine(in: directory) { () throws(CisternError) in
      do {
        let claim = try DirectoryClaim(directory: directory, isReadOnly: false)
        try claim.withGate({ $0 as any Error }) { () throws(any Error) in
          guard claim.isAlone() else { throw inUse(directory) }
          try compactAlone(directory, limit: limit, claim)
        }
      } catch let error as CisternError {
        throw error
      } catch {
        throw CisternError(.diskFailed, "the store could not be compacted", location: directory, cause: error)
      }
    }
    return (.bytes(before), .bytes(DiskDirectory.fileSize(path) ?? 0))
  }

  private static func compactAlone(_ directory: String, limit: ByteCount, _ claim: DirectoryClaim) throws {
    var opening = DiskOpening(
      directory: directory, options: DiskOptions(limit: limit),
      limits: try DiskLimits(limit, location: directory))
    let mark = try claim.readMark()
    if let reason = opening.distrust(mark) {
      throw CisternError(
        .diskFailed, "the data file cannot be trusted: \(reason); the next opening sets it aside", location: directory)
    }
    let file = try DiskFile.open(
      directory: directory, options: opening.environmentOptions(mapSize: opening.presentMapSize))
    try file.replaceByCopy()
    // The copy was written through.
    let stamp = DataFileStamp(of: opening.path)
    try claim.write(BootMark(state: .sound, boot: presentBoot(), limit: limit.bytes, stamp: stamp))
  }

  private static func inUse(_ directory: String) -> CisternError {
    CisternError(.storeInUse, "another process has the store open; close it there first", location: directory)
  }
}
