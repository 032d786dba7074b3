import CisternCore

// Staged writes that invalidations of other processes exclude.

extension InvalidationState {
  /// Returns the number in the file of the invalidation that excludes a staged write. Records of the key that were
  /// committed after it stay. Returns nil if none may stay.
  ///
  /// An excluded write removes the key's record, because it would have replaced it. Another process may have written a
  /// newer record after its invalidation. This process writes none: a value that it sets disowns the fetches of the
  /// key.
  ///
  /// - Parameters:
  ///   - metadata: The metadata of the write, which is concealed.
  ///   - key: The key.
  /// - Returns: The number; nil if the removal concerns every record.
  func numberInFile(ofExcluding metadata: RecordMetadata, key: RawSpan) -> FileInvalidationVersion? {
    let version = metadata.localVersion
    // A forgotten invalidation has no known number.
    guard !metadata.isSet, version >= forgotten, !ofOtherProcesses.isEmpty,
      !ofThisProcess.conceals(invalidationVersion: version, key: key, tags: metadata.tags),
      !uncommitted.conceals(invalidationVersion: version, key: key, tags: metadata.tags)
    else { return nil }
    let ofTags = metadata.tags.lazy.compactMap { tag -> FileInvalidationVersion? in
      let tag = Invalidation.tag(tag)
      guard let local = noticed.invalidationVersions[tag] ?? ended.invalidationVersions[tag], local > version else {
        return nil
      }
      return ofOtherProcesses.invalidationVersions[tag]
    }
    if let first = ofTags.min() { return first }
    let ofPrefixes = ofOtherProcesses.newestVersion(ofPrefixesOf: key)
    return ofPrefixes == .zero ? nil : ofPrefixes
  }
}
