// The tags of a value that is made of a cached one. An update, an edit, a draft and a merge keep the tags of the cached value,
// unless the write names others. The new value still depends on the data of these tags: a removal by one must find it.

extension Cache {
  /// `storing` for a value that is made of the value found.
  @inlinable
  func keepingTags(of finding: Finding, _ storing: Storing) -> Storing {
    guard case .kept = storing.tags else { return storing }
    return storing.keepingTags(namedTags(of: finding))
  }

  /// The tags that were named when the value was stored.
  @usableFromInline
  func namedTags(of finding: Finding) -> [String] {
    guard let value = finding.usable else { return [] }
    return namedTags(among: finding.timing.tags, of: value)
  }

  /// The tags of a stored value without those that it says itself: the value that replaces it says its own.
  func namedTags(among tags: [String], of value: Value) -> [String] {
    guard !tags.isEmpty, let tagsOfValue else { return tags }
    var named = tags
    // One that is named and said is there twice. Those that the value says come last.
    for tag in tagsOfValue(value) {
      if let index = named.lastIndex(of: tag) { named.remove(at: index) }
    }
    return named
  }

  /// The terms of an arriving value. If the cache merges, the value is made of the cached one. Else it replaces that.
  @inlinable
  func arriving(_ storing: Storing) -> Storing { merge == nil ? storing.withoutKeptTags : storing }

  /// The terms of a fetched value. A load that names no tags keeps those of the value it is merged with.
  func arriving(_ storing: Storing, over finding: Finding, isNewer: Bool) -> Storing {
    guard merge != nil else { return storing }
    // A value that was set since the fetch began is newer than the load. So are its tags.
    let keeps = storing.namedTags.isEmpty || (isNewer && !finding.timing.tags.isEmpty)
    return keeps ? Storing(expiry: storing.expiry, tags: .kept) : storing
  }
}
