import CisternCore

/// The newest invalidation version of each tag and prefix, and of all of them together.
///
/// No version is ever removed, because a test makes few invalidations.
struct Invalidations {
  private(set) var newest: UInt64 = 0
  private var invalidationVersions: [Invalidation: UInt64] = [:]

  mutating func add(_ invalidation: Invalidation, invalidationVersion: UInt64) {
    newest = max(newest, invalidationVersion)
    invalidationVersions[invalidation] = max(invalidationVersion, invalidationVersions[invalidation] ?? 0)
  }

  /// Returns whether an invalidation covers a record with this key and metadata.
  func concern(_ metadata: RecordMetadata, key: [UInt8]) -> Bool {
    metadata.invalidationVersion < newest
      && invalidationVersions.contains {
        $0.value > metadata.invalidationVersion && $0.key.concerns(key: key, tags: metadata.tags)
      }
  }
}
