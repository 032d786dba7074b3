import CisternCore
import LMDB

extension DiskEngine {
  /// Registers the format of a cache. The writer thread writes it to the file with the next commit of that cache.
  ///
  /// - Throws: `CisternError` with the code `conflictingOpen` if another codec wrote the records of that schema
  ///   version.
  func adopt(_ format: ValueFormat, of partition: Partition) throws(CisternError) {
    let known = partition.formats.codec(ofVersion: format.schemaVersion) ?? writtenCodec(like: format, of: partition)
    guard let known else { return partition.formats.adopt(format, isWritten: false) }
    guard known == format.codec else {
      throw CisternError(
        .conflictingOpen,
        "the cache's records were written by the codec \"\(known)\", not by \"\(format.codec)\". Open the cache with that codec, "
          + "give its configuration a schema with a new version, or choose another name",
        location: "cache \"\(partition.name)\" in \(directory)")
    }
    partition.formats.adopt(format, isWritten: true)
  }

  /// Returns the codec that the file names for the schema version, or nil if it names none or cannot be read.
  private func writtenCodec(like format: ValueFormat, of partition: Partition) -> String? {
    guard let file else { return nil }
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else { return nil }
    do {
      return try transaction.codec(ofVersion: format.schemaVersion, of: partition.name, in: file.meta)
    } catch {
      noteReadFailure(error, of: environment)
      return nil
    }
  }
}
