import CisternCore

// Records and writes that invalidations conceal, and files that have all of them.

extension InvalidationState {
  /// Returns whether a record of the file must not be shown.
  ///
  /// - Parameters:
  ///   - fileVersion: The file version of the record.
  ///   - key: The key of the record.
  ///   - tags: The tags of the record.
  /// - Returns: Whether the record is concealed.
  func concealsRecord(fileVersion: FileInvalidationVersion, key: RawSpan, tags: [String]) -> Bool {
    if committed.conceals(invalidationVersion: fileVersion, key: key, tags: tags) { return true }
    guard !uncommitted.isEmpty else { return false }
    // An uncommitted invalidation follows every committed record, regardless of their versions.
    let isKnown = fileVersion <= row?.invalidationVersion ?? .zero
    return uncommitted.conceals(
      invalidationVersion: isKnown ? .zero : InvalidationVersion(sameNumberAs: fileVersion), key: key, tags: tags)
  }

  /// Returns whether a record that was read earlier must not be shown.
  ///
  /// Compares it with the invalidations that have ended since, too.
  func concealsRecordReadBefore(fileVersion: FileInvalidationVersion, key: RawSpan, tags: [String]) -> Bool {
    concealsRecord(fileVersion: fileVersion, key: key, tags: tags)
      || endedInFile.conceals(invalidationVersion: fileVersion, key: key, tags: tags)
  }

  /// Returns whether a staged write must not be shown.
  ///
  /// A value that was set follows another process's invalidation that is committed before it. A fetched value does
  /// not, because its fetch may have begun earlier.
  func concealsWrite(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    concealsTakenWrite(metadata, key: key)
      || metadata.isSet && recent.conceals(invalidationVersion: metadata.localVersion, key: key, tags: metadata.tags)
  }

  /// Returns whether the commit group that has taken the write must not commit it.
  ///
  /// An invalidation that was staged after the group was taken is in a later group, and conceals the record from there. If it
  /// counted for values that were set, a commit could have a part of a batch.
  func concealsTakenWrite(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    if metadata.isSet {
      return taken.conceals(invalidationVersion: metadata.localVersion, key: key, tags: metadata.tags)
    }
    return concealsWrite(invalidationVersion: metadata.localVersion, key: key, tags: metadata.tags)
  }

  /// Returns whether an invalidation after this local version conceals the write, even one that has ended.
  func concealsWrite(invalidationVersion: InvalidationVersion, key: RawSpan, tags: [String]) -> Bool {
    invalidationVersion < forgotten || inForce.conceals(invalidationVersion: invalidationVersion, key: key, tags: tags)
      || ended.conceals(invalidationVersion: invalidationVersion, key: key, tags: tags)
  }

  /// Returns whether a file with this row of versions, as of this transaction, has all that is known of its invalidations.
  ///
  /// An older copy of the file lacks some of it.
  func isContinued(by row: InvalidationVersionRow, transaction: TransactionNumber) -> Bool {
    guard let known = self.row, row != known else { return transaction >= rowTransaction }
    return transaction > rowTransaction && row.changes > known.changes
      && row.invalidationVersion >= known.invalidationVersion
  }
}
