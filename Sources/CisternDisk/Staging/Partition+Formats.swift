import CisternCore

// Records that another process wrote with another codec. This process cannot read them, and leaves them in the file.

extension Partition {
  /// Records that the file names another codec for the version of the format. Readers take its records for absent from
  /// now on.
  func noteConflict(of format: ValueFormat, with otherCodec: String) {
    formats.noteConflict(of: format, with: otherCodec)
    // After the conflict: a reader that compares must find it.
    invalidations.compareAlways()
  }

  /// Returns whether the file is known to name another codec for the records of a schema version.
  func isOfOtherCodec(_ schemaVersion: UInt32) -> Bool { formats.conflict(ofVersion: schemaVersion) != nil }

  /// Compares a record of the file with the formats and with the invalidations.
  @inline(never)
  func visibility(
    of metadata: RecordMetadata, key: RawSpan, snapshot: TransactionNumber
  ) -> InvalidationTable.Visibility {
    if isOfOtherCodec(metadata.schemaVersion) { return .concealed }
    return invalidations.visibility(of: metadata, key: key, snapshot: snapshot)
  }
}
