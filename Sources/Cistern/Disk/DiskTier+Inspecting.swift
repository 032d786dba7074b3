import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// For tools that look into a store without knowing what is in it.
extension DiskTier {
  /// The limit that the store in `directory` was last opened with, by its mark; nil where there is no store.
  ///
  /// Throws where the directory, or the mark, cannot be read.
  package static func recordedLimit(in directory: String) throws(CisternError) -> ByteCount? {
    try DiskDirectory.prepare(directory, isReadOnly: true)
    guard DiskDirectory.fileSize("\(directory)/\(DiskDirectory.mark)") != nil else { return nil }
    do {
      let claim = try DirectoryClaim(directory: directory, isReadOnly: true)
      guard let mark = try claim.readMark(), mark.limit > 0 else { return nil }
      return ByteCount.bytes(mark.limit)
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
  }

  /// The reader slots of LMDB's that are taken, by all processes; zero where there is no file.
  package var readerSlotCount: Int { (try? engine.file?.environment.readers().count) ?? 0 }

  /// The names of all caches in the store, in order; empty where there is no file that can be read.
  package func partitionNames() throws(CisternError) -> [String] {
    guard let file = engine.file else { return [] }
    do {
      return try file.environment.withRead { (transaction) throws(LMDBError) -> [String] in
        let prefix = MetaTable.partition("")
        var names: [String] = []
        var cursor = try transaction.cursor(in: file.meta)
        var isAtPartition = try cursor.move(toFirstFrom: prefix.rawSpan)
        while isAtPartition, let key = cursor.key?.copiedBytes(), key.starts(with: prefix) {
          names.append(String(decoding: key.dropFirst(prefix.count), as: UTF8.self))
          isAtPartition = try cursor.moveToNext()
        }
        return names
      }
    } catch {
      throw CisternError(
        .diskFailed, "the names of the caches cannot be read", location: engine.directory, cause: error)
    }
  }

  /// Puts a compacted copy in the place of the file: free pages go, and the rest lies in order. Answers the file's size
  /// before and after.
  ///
  /// For a store that nobody has open, this process included; throws `storeInUse` where anybody has. Needs room on the
  /// device for the copy. Whenever it is interrupted, the one file or the other is there, whole.
  package static func compact(_ directory: String) throws(CisternError) -> (before: ByteCount, after: ByteCount) {
    guard let limit = try recordedLimit(in: directory) else {
      throw CisternError(.directoryUnusable, "there is no store in the directory", location: directory)
    }
    let opening = DiskOpening(
      directory: directory, options: DiskOptions(limit: limit), limits: try DiskLimits(limit, location: directory))
    let path = "\(directory)/\(DiskDirectory.data)"
    let claim: DirectoryClaim
    do {
      claim = try DirectoryClaim(directory: directory, isReadOnly: false)
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
    return try claim.withGate({ inUse(directory, $0) }) { () throws(CisternError) -> (ByteCount, ByteCount) in
      guard claim.isAlone() else { throw inUse(directory, nil) }
      let before = DiskDirectory.fileSize(path) ?? 0
      do {
        try DiskFile.open(directory: directory, options: opening.environmentOptions()).replaceByCopy()
      } catch {
        throw CisternError(.diskFailed, "the file could not be compacted", location: directory, cause: error)
      }
      return (.bytes(before), .bytes(DiskDirectory.fileSize(path) ?? 0))
    }
  }

  private static func inUse(_ directory: String, _ cause: (any Error)?) -> CisternError {
    CisternError(
      .storeInUse, "somebody has the store open; close it there first", location: directory, cause: cause)
  }
}
