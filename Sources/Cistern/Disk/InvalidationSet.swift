/// Invalidations by what they concern, the newest of each: a record is looked up among them by its key and its tags.
struct InvalidationSet: Sendable {
  private(set) var eras: [Invalidation: UInt64] = [:]
  /// The prefixes among them, by their bytes.
  private var prefixes = PrefixTree()
  /// No less than the greatest number.
  private(set) var newest: UInt64 = 0
  /// The bytes that they take up, about.
  private(set) var size = 0

  var isEmpty: Bool { eras.isEmpty }

  mutating func add(_ invalidation: Invalidation, era: UInt64) {
    newest = max(newest, era)
    if case .prefix(let prefix) = invalidation { prefixes.insert(prefix, number: era) }
    if let present = eras[invalidation] {
      eras[invalidation] = max(present, era)
      return
    }
    eras[invalidation] = era
    size += invalidation.size
  }

  /// Removes the invalidation, unless a newer one of the same is there.
  mutating func remove(_ invalidation: Invalidation, era: UInt64) {
    guard let present = eras[invalidation], present <= era else { return }
    eras[invalidation] = nil
    size -= invalidation.size
    if case .prefix(let prefix) = invalidation { prefixes.remove(prefix) }
  }

  /// Whether a record of this number, key and tags is concerned by a greater number.
  func conceals(era: UInt64, key: RawSpan, tags: [String]) -> Bool {
    guard era < newest else { return false }
    for tag in tags {
      if let other = eras[.tag(tag)], other > era { return true }
    }
    return prefixes.newestNumber(ofPrefixesOf: key) > era
  }
}

extension Invalidation {
  /// Its bytes in memory, and in the file, roughly.
  var size: Int {
    switch self {
    case .tag(let tag): tag.utf8.count + 96
    case .prefix(let prefix): prefix.count + 96
    }
  }
}
