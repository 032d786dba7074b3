import LMDB

extension WriteStep {
  /// Writes the formats of a partition that the file lacks.
  ///
  /// If the file names another codec of a version, that codec stays, and the partition records the conflict. The caller
  /// must then put no record of that version.
  mutating func putFormats(of partition: Partition, in transaction: inout WriteTransaction) throws(LMDBError) {
    for format in partition.formats.unwritten {
      let written = try transaction.codec(ofVersion: format.schemaVersion, of: partition.name, in: file.meta)
      if let written, written != format.codec {
        partition.noteConflict(of: format, with: written)
        continue
      }
      outcome.formats.append((partition, format))
      if written != nil { continue }
      try transaction.put(
        Array(format.codec.utf8), forKey: MetaTable.format(ofVersion: format.schemaVersion, partition.name),
        in: file.meta)
      outcome.hasChanges = true
      outcome.touchedPages += 1
    }
  }

  /// Returns whether the file names another codec for the version of the key's record. This process must then leave the
  /// record.
  mutating func hasRecordOfOtherCodec(
    _ key: [UInt8], of generation: Generation, in partition: Partition, _ transaction: inout IndexTransaction
  ) throws(LMDBError) -> Bool {
    guard partition.formats.hasConflicts else { return false }
    let version = try records.schemaVersion(ofRecord: key, of: generation, in: &transaction)
    return version.map { partition.isOfOtherCodec($0) } ?? false
  }
}
