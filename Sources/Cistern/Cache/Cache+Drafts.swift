extension Cache {
  /// A scratch layer over the cache, whose writes stay in it until they are saved together.
  public func draft() -> Draft<Key, Value> { Draft(of: self) }
}

extension Cache: DraftParent {
  func watch(_ key: Key) -> UInt64 {
    let hash = table.hash(key)
    table.watch(hash)
    // The value is read for its tags: an invalidation that concerns it is a change of the key.
    return UInt64(find(key, hash: hash).version.changes)
  }

  func read(_ key: Key, isByUser: Bool) -> DraftReading<Value> {
    let hash = table.hash(key)
    if edits.isEmpty {
      let value = value(forKey: key)
      let held = table.peek(key, hash: hash)
      // Still: else the value may be what an edit shows.
      if edits.isEmpty {
        guard let value else { return DraftReading(value: nil, tags: []) }
        if let held { return DraftReading(value: value, tags: namedTags(among: held.timing.tags, of: value)) }
      }
    }
    let finding = find(key, hash: hash, while: {}).0
    return DraftReading(value: finding.value, tags: namedTags(of: finding))
  }

  func follow(_ key: Key) { _ = find(key, hash: table.hash(key)) }

  func unwatch(_ key: Key) { table.unwatch(table.hash(key)) }

  func version(of key: Key) -> UInt64 {
    UInt64(table.watched(key, hash: table.hash(key)).version.changes)
  }

  func take(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> SavedDraft<Key> {
    try policy.check(draft) { isConflict($0, of: draft) }
    var versions: [Key: UInt64] = [:]
    // The values are needed for their tags, too.
    let outcome = try writeTogether(draft.batch.keys, context: context, dependsOnCached: true) {
      key, finding throws(CisternError) in
      let version = UInt64(finding.version.changes)
      versions[key] = version
      let write = try draft.write(of: key, over: finding.value, version: version, isEqual: isEqual, policy)
      guard let write else { return PlannedWrite(.keep) }
      // The write itself is one change.
      versions[key] = UInt64(finding.version.changes &+ 1)
      var storing = write.storing
      // A value whose time was up since the draft read it is no conflict, and its tags stay.
      if case nil = finding.usable { storing = storing.keepingTags(draft.tags(below: key)) }
      return try plan(write, storing, forKey: key, over: finding)
    }
    return SavedDraft(outcome: outcome, versions: versions)
  }

  func waitForRoom() { secondTier?.partition.waitForRoom() }

  // A draft waits so only before it commits.
  nonisolated(nonsending) func waitForRoom() async { await secondTier?.partition.prepareToCommit() }
}
