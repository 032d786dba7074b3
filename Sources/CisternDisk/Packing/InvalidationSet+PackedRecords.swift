import CisternCore

extension InvalidationSet<FileInvalidationVersion> {
  /// Returns whether the set has a greater version of an invalidation that concerns the record with this header.
  ///
  /// Decodes the tags only if the record is older than the newest invalidation.
  func conceals(_ record: RawSpan, _ header: PackedHeader) -> Bool {
    let invalidationVersion = header.invalidationVersion(of: record)
    guard invalidationVersion < newest else { return false }
    return conceals(
      invalidationVersion: invalidationVersion, key: record.extracting(header.key),
      tags: header.metadata(of: record).tags)
  }
}
