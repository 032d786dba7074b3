import CisternCore

/// The newest invalidation version of each tag and prefix, and of all of them together.
///
/// No version is ever removed, because a test makes few invalidations.
struct Invalidations {
  private(set) var newest = InvalidationVersion.zero
  private var invalidationVersions: [Invalidation: InvalidationVersion] = [:]

  mutating func add(_ invalidation: Invalidation, invalidationVersion: InvalidationVersion) {
    newest = max(newest, invalidationVersion)
    invalidationVersions[invalidation] = max(invalidationVersion, invalidationVersions[invalidation] ?? .zero)
  }

  /// Returns whether an invalidation covers a record with this key and metadata.
  func concerns(_ metadata: RecordMetadata, key: [UInt8]) -> Bool {
    metadata.localVersion < newest
      && invalidationVersions.contains {
        $0.value > metadata.localVersion && $0.key.concerns(key: key, tags: metadata.tags)
      }
  }
}
