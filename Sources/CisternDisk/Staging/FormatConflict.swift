import CisternCore

/// A format whose schema version has another codec.
struct FormatConflict: Sendable {
  let format: ValueFormat
  /// The codec that wrote the records of the version.
  let otherCodec: String

  /// Returns the error of an opening or a write with the format.
  func error(of partition: Partition, in directory: String) -> CisternError {
    CisternError(
      .conflictingOpen,
      "the cache's records were written by the codec \"\(otherCodec)\", not by \"\(format.codec)\". Open the cache with that codec, "
        + "give its configuration a schema with a new version, or choose another name",
      location: "cache \"\(partition.name)\" in \(directory)")
  }
}
