import CisternCore

/// A set of invalidations with the newest version of each. A record is compared by its key and its tags. All versions
/// have the same order.
package struct InvalidationSet<Version: InvalidationOrder>: Sendable {
  package private(set) var invalidationVersions: [Invalidation: Version] = [:]
  /// The prefixes of the set, by their bytes.
  private var prefixes = PrefixVersions<Version>()
  /// An upper bound of the versions.
  private(set) var newest = Version(number: 0)
  /// The approximate size of the set in bytes.
  private(set) var size = 0

  package init() {}

  package var isEmpty: Bool { invalidationVersions.isEmpty }

  /// Adds the invalidation, or raises its version.
  package mutating func add(_ invalidation: Invalidation, invalidationVersion: Version) {
    newest = max(newest, invalidationVersion)
    if case .prefix(let prefix) = invalidation { prefixes.insert(prefix, version: invalidationVersion) }
    if let known = invalidationVersions[invalidation] {
      invalidationVersions[invalidation] = max(known, invalidationVersion)
      return
    }
    invalidationVersions[invalidation] = invalidationVersion
    size += invalidation.size
  }

  /// Removes the invalidation, unless the set has a newer version of it.
  package mutating func remove(_ invalidation: Invalidation, invalidationVersion: Version) {
    guard let known = invalidationVersions[invalidation], known <= invalidationVersion else { return }
    invalidationVersions[invalidation] = nil
    size -= invalidation.size
    if case .prefix(let prefix) = invalidation { prefixes.remove(prefix) }
  }

  /// Returns whether the set has a greater version of an invalidation that concerns the record.
  package func conceals(invalidationVersion: Version, key: RawSpan, tags: [String]) -> Bool {
    guard invalidationVersion < newest else { return false }
    for tag in tags {
      if let other = invalidationVersions[.tag(tag)], other > invalidationVersion { return true }
    }
    return newestVersion(ofPrefixesOf: key) > invalidationVersion
  }

  /// Returns the greatest version of an invalidation of a prefix of the key; zero for none.
  func newestVersion(ofPrefixesOf key: RawSpan) -> Version { prefixes.newestVersion(ofPrefixesOf: key) }
}
