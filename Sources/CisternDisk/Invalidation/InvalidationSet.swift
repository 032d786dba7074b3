import CisternCore

/// A set of invalidations with the newest version of each. A record is compared by its key and its tags.
package struct InvalidationSet: Sendable {
  package private(set) var eras: [Invalidation: UInt64] = [:]
  /// The prefixes of the set, by their bytes.
  private var prefixes = PrefixTree()
  /// An upper bound of the versions.
  private(set) var newest: UInt64 = 0
  /// The approximate size of the set in bytes.
  private(set) var size = 0

  package init() {}

  package var isEmpty: Bool { eras.isEmpty }

  /// Adds the invalidation, or raises its version.
  package mutating func add(_ invalidation: Invalidation, era: UInt64) {
    newest = max(newest, era)
    if case .prefix(let prefix) = invalidation { prefixes.insert(prefix, number: era) }
    if let present = eras[invalidation] {
      eras[invalidation] = max(present, era)
      return
    }
    eras[invalidation] = era
    size += invalidation.size
  }

  /// Removes the invalidation, unless the set has a newer version of it.
  package mutating func remove(_ invalidation: Invalidation, era: UInt64) {
    guard let present = eras[invalidation], present <= era else { return }
    eras[invalidation] = nil
    size -= invalidation.size
    if case .prefix(let prefix) = invalidation { prefixes.remove(prefix) }
  }

  /// Returns whether the set has a greater version of an invalidation that concerns the record.
  package func conceals(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    guard era < newest else { return false }
    for tag in tags {
      if let other = eras[.tag(tag)], other > era { return true }
    }
    return prefixes.newestNumber(ofPrefixesOf: key) > era
  }
}
