import CisternCore
import LMDB

extension DiskEngine {
  /// Registers the format of a cache. The writer thread writes it to the file with the next commit of that cache after
  /// the registration is confirmed.
  ///
  /// - Throws: `CisternError` with the code `conflictingOpen` if another codec wrote the records of that schema
  ///   version.
  func register(_ format: ValueFormat, of partition: Partition) throws(CisternError) -> FormatRegistration {
    if !partition.formats.isKnown(format.schemaVersion), let written = writtenCodec(like: format, of: partition),
      written != format.codec
    {
      throw conflict(with: written, format, of: partition)
    }
    // Another opening can have registered another codec since, so the formats themselves decide.
    switch partition.formats.register(format) {
    case .registered(let registration): return registration
    case .conflicting(let codec): throw conflict(with: codec, format, of: partition)
    }
  }

  /// Returns whether the file names another codec than the partition for a schema version.
  ///
  /// Looks at the file only until a commit has compared the codecs. Does not note the result, because the file can be
  /// replaced.
  func namesOtherCodec(forVersion schemaVersion: UInt32, of partition: Partition) -> Bool {
    if isInherited { return false }
    guard let format = partition.formats.uncomparedFormat(ofVersion: schemaVersion) else {
      return partition.isOfOtherCodec(schemaVersion)
    }
    return writtenCodec(like: format, of: partition).map { $0 != format.codec } ?? false
  }

  private func conflict(with codec: String, _ format: ValueFormat, of partition: Partition) -> CisternError {
    FormatConflict(format: format, otherCodec: codec).error(of: partition, in: directory)
  }

  /// Returns the codec that the file names for the schema version, or nil if it names none or cannot be read.
  ///
  /// The file can name another one later. The commit of the first record compares the two.
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
