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
    return !uncommitted.isEmpty
      && uncommitted.conceals(invalidationVersion: versionBelowUncommitted(fileVersion), key: key, tags: tags)
  }

  /// Returns the local version with which a record of the file is compared with uncommitted invalidations.
  ///
  /// An uncommitted invalidation follows every committed record, regardless of their versions.
  private func versionBelowUncommitted(_ fileVersion: FileInvalidationVersion) -> InvalidationVersion {
    fileVersion <= row?.invalidationVersion ?? .zero ? .zero : InvalidationVersion(sameNumberAs: fileVersion)
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
    let (version, tags) = (metadata.localVersion, metadata.tags)
    guard metadata.isSet else { return concealsWrite(invalidationVersion: version, key: key, tags: tags) }
    return taken.conceals(invalidationVersion: version, key: key, tags: tags)
      || recent.conceals(invalidationVersion: version, key: key, tags: tags)
  }

  /// Returns whether the commit group that has taken the write must not commit it.
  ///
  /// An invalidation that was staged after the group was taken is in a later group, and conceals the record from there.
  /// If it counted, a commit could have a part of a batch.
  func concealsTakenWrite(_ metadata: RecordMetadata, key: RawSpan) -> Bool {
    let (version, tags) = (metadata.localVersion, metadata.tags)
    if taken.conceals(invalidationVersion: version, key: key, tags: tags) { return true }
    guard !metadata.isSet else { return false }
    if version < forgotten || noticed.conceals(invalidationVersion: version, key: key, tags: tags)
      || ended.conceals(invalidationVersion: version, key: key, tags: tags)
    {
      return true
    }
    // Few fetches meet invalidations of a former file, which can be those of another process.
    return (!repeated.isEmpty || !committing.isEmpty && commitsUntaken)
      && inForce.conceals(invalidationVersion: version, key: key, tags: tags)
  }

  /// Returns whether an invalidation of the file, or one that the transaction in progress writes, conceals a record of
  /// the file.
  ///
  /// An invalidation that is staged for a later commit may still be lost. Until then, the file must not lose the record
  /// to it.
  func concealsRecordInTransaction(fileVersion: FileInvalidationVersion, key: RawSpan, tags: [String]) -> Bool {
    if committed.conceals(invalidationVersion: fileVersion, key: key, tags: tags)
      || endedInFile.conceals(invalidationVersion: fileVersion, key: key, tags: tags)
    {
      return true
    }
    return !committing.isEmpty
      && taken.conceals(invalidationVersion: versionBelowUncommitted(fileVersion), key: key, tags: tags)
  }

  /// Returns whether an invalidation after this local version conceals the write, even one that has ended.
  func concealsWrite(invalidationVersion: InvalidationVersion, key: RawSpan, tags: [String]) -> Bool {
    invalidationVersion < forgotten || inForce.conceals(invalidationVersion: invalidationVersion, key: key, tags: tags)
      || ended.conceals(invalidationVersion: invalidationVersion, key: key, tags: tags)
  }

  /// Returns whether a file with this row of versions, as of this transaction, has all that is known of its
  /// invalidations.
  ///
  /// An older copy of the file lacks some of it.
  func isContinued(by row: InvalidationVersionRow, transaction: TransactionNumber) -> Bool {
    guard let known = self.row, row != known else { return transaction >= rowTransaction }
    return transaction > rowTransaction && row.changes > known.changes
      && row.invalidationVersion >= known.invalidationVersion
  }
}
