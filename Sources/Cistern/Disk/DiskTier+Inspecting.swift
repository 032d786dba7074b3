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

  /// The most bytes that a record may have in a store with this limit, as ``recordSize(key:_:bytes:)`` counts them.
  ///
  /// Throws if the limit is too small for a store; the error names `directory`.
  package static func largestRecord(limit: ByteCount, in directory: String) throws(CisternError) -> Int {
    try DiskLimits(limit, location: directory).largestRecord
  }

  /// The bytes that a record counts: its value, its key, its tags and the record's own fields.
  package static func recordSize(key: [UInt8], _ metadata: RecordMetadata, bytes: [UInt8]) -> Int {
    StagedWrite.record(key: key, metadata, bytes: bytes).stagedSize
  }

  /// The reader slots of LMDB's that are taken, by all processes; zero where there is no file.
  package var readerSlotCount: Int { (try? engine.file?.environment.readers().count) ?? 0 }

  /// The names of all caches in the store, in order; empty where there is no file that can be read.
  package func partitionNames() throws(CisternError) -> [String] {
    guard let file = engine.file else { return [] }
    do {
      return try file.partitionNames()
    } catch {
      throw CisternError(
        .diskFailed, "the names of the caches cannot be read", location: engine.directory, cause: error)
    }
  }

  /// What is wrong with the structure of the store's data file, whatever its mark says; nil where nothing is, or somebody
  /// has it open, and it changes while it is read. Reads all of it, and does not use LMDB: it may be in any state.
  package static func damage(in directory: String) throws(CisternError) -> DiskFinding? {
    try DiskDirectory.prepare(directory, isReadOnly: true)
    do {
      let claim = try DirectoryClaim(directory: directory, isReadOnly: true)
      return try claim.withGate({ $0 }) { () throws(SystemError) -> DiskFinding? in
        guard claim.isAlone() else { return nil }
        do {
          _ = try DataFileCheck.run("\(directory)/\(DiskDirectory.data)")
          return nil
        } catch {
          return DiskFinding(kind: .unreadable, description: "the data file is damaged: \(error)")
        }
      }
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
  }
}
