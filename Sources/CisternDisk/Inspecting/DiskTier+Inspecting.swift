import CisternCore
import LMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Operations for tools that examine a store without knowledge of its caches.
extension DiskTier {
  /// Returns the limit that the store in `directory` was last opened with, or nil if the directory has no store.
  ///
  /// - Parameter directory: The directory of the store.
  /// - Returns: The limit that the mark records.
  /// - Throws: ``CisternError`` if the directory or the mark cannot be read.
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

  /// Returns whether the directory has a data file, with or without the mark that records its limit.
  package static func hasDataFile(in directory: String) -> Bool {
    DiskDirectory.fileSize("\(directory)/\(DiskDirectory.data)") != nil
  }

  /// Returns the maximum size of a record in a store with this limit, in bytes.
  ///
  /// - Parameters:
  ///   - limit: The disk limit of the store.
  ///   - directory: The directory that an error names.
  /// - Returns: The maximum size, as ``recordSize(key:_:bytes:)`` counts it.
  /// - Throws: ``CisternError`` if the limit is too small for a store.
  package static func largestRecord(limit: ByteCount, in directory: String) throws(CisternError) -> Int {
    try DiskLimits(limit, location: directory).largestRecord
  }

  /// Returns the size of a record in bytes: its value, its key, its tags and its own fields.
  package static func recordSize(key: [UInt8], _ metadata: RecordMetadata, bytes: [UInt8]) -> Int {
    StagedWrite.record(key: key, metadata, bytes: bytes).stagedSize
  }

  /// The number of LMDB's reader slots that are in use by all processes. Zero if they cannot be read.
  package var readerSlotCount: Int { (try? engine.file?.environment.readers().count) ?? 0 }

  /// Returns the names of all caches in the store, in byte order. The result is empty without a readable file.
  ///
  /// - Throws: ``CisternError`` if the names cannot be read.
  package func partitionNames() throws(CisternError) -> [String] {
    guard let file = engine.file else { return [] }
    do {
      return try file.partitionNames()
    } catch {
      throw CisternError(
        .diskFailed, "the names of the caches cannot be read", location: engine.directory, cause: error)
    }
  }

  /// Checks the structure of the store's data file, regardless of its mark.
  ///
  /// Reads all of the file, and does not use LMDB, because the file may be in any state.
  ///
  /// - Parameter directory: The directory of the store.
  /// - Returns: The damage, or nil for a sound file. Also nil if a process has the store open, because the file can
  ///   change during the check.
  /// - Throws: ``CisternError`` if the directory cannot be used.
  package static func damage(in directory: String) throws(CisternError) -> StoreVerification.Defect? {
    try DiskDirectory.prepare(directory, isReadOnly: true)
    do {
      let claim = try DirectoryClaim(directory: directory, isReadOnly: true)
      return try claim.withGate({ $0 }) { () throws(SystemError) -> StoreVerification.Defect? in
        defer { claim.leave() }
        guard claim.isAlone() else { return nil }
        guard case .failure(let damage) = try DataFileCheck.run("\(directory)/\(DiskDirectory.data)") else {
          return nil
        }
        return .init(.unreadable, description: "the data file is damaged: \(damage)")
      }
    } catch {
      throw DiskDirectory.unusable(directory, error)
    }
  }
}
