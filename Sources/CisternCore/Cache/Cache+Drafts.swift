extension Cache {
  /// Creates a scratch layer over the cache. Its writes stay in it until they are saved together.
  public func draft() -> Draft<Key, Value> { Draft(of: self) }
}

extension Cache: DraftParent {
  var merge: (@Sendable (Value, Value) throws -> Value)? { conditionalWriter.merge }

  var isEqual: (@Sendable (Value, Value) -> Bool)? { conditionalWriter.isEqual }

  func watch(_ key: Key) -> SeenKey<Value> {
    let hashed = table.hashed(key)
    table.watch(hashed)
    // The value is read for its tags: an invalidation that concerns it is a change of the key.
    let snapshot = records.snapshot(of: hashed)
    return SeenKey(
      version: VersionBelow(snapshot.version), tags: conditionalWriter.keptTags.namedTags(of: snapshot),
      value: isEqual == nil ? nil : snapshot.usable)
  }

  func read(_ key: Key) -> DraftReading<Value> {
    let hashed = table.hashed(key)
    let keptTags = conditionalWriter.keptTags
    if edits.isEmpty {
      let value = value(forKey: key)
      // An invalidation that concerns the value is a change of the key from now on.
      let held = table.watched(hashed).held
      // Asked again: an edit may show the value that was read.
      if edits.isEmpty {
        // A comparison needs also a value in grace.
        if value == nil, isEqual == nil { return DraftReading(value: nil, tags: []) }
        if let value, let held {
          return DraftReading(value: value, tags: keptTags.namedTags(among: held.timing.tags, of: value))
        }
      }
    }
    let snapshot = records.snapshot(of: hashed, while: {}).0
    let tags = snapshot.value == nil ? [] : keptTags.namedTags(of: snapshot)
    return DraftReading(value: snapshot.value, tags: tags, usable: snapshot.usable)
  }

  func usableValue(of key: Key) -> Value? { records.snapshot(of: table.hashed(key), while: {}).0.usable }

  func unwatch(_ key: Key) { table.unwatch(table.hashed(key)) }

  func version(of key: Key) -> VersionBelow {
    VersionBelow(table.watched(table.hashed(key)).version)
  }

  func apply(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> SavedDraft<Key, Value> {
    try policy.check(draft) { isConflict($0, of: draft) }
    var saved: [Key: SavedKey<Value>] = [:]
    // The values are needed for their tags, too.
    let outcome = try conditionalWriter.writeTogether(draft.batch.keys, context: context, dependsOnCached: true) {
      key, snapshot throws(CisternError) in try plan(draft, key, over: snapshot, policy, &saved)
    }
    return SavedDraft(outcome: outcome, keys: saved)
  }

  /// Plans the write of a key that a draft wrote. Sets the state of the key after the save.
  func plan(
    _ draft: DraftState<Key, Value>, _ key: Key, over snapshot: ReadSnapshot<Key, Value>,
    _ policy: DraftConflictPolicy<Key, Value>, _ saved: inout [Key: SavedKey<Value>]
  ) throws(CisternError) -> PlannedWrite<Value> {
    let version = VersionBelow(snapshot.version)
    let resolved = try draft.write(of: key, over: snapshot.usable, version: version, isEqual: isEqual, policy)
    let tags = conditionalWriter.keptTags.namedTags(of: snapshot)
    saved[key] = SavedKey(version: version, tags: tags, isOwn: resolved.isOwn(inMergingCache: merge != nil))
    if isEqual != nil { saved[key]?.value = snapshot.usable }
    guard let write = resolved.write else { return PlannedWrite(.keep) }
    // The write itself is one change.
    saved[key]?.version = VersionBelow(after: snapshot.version)
    var writeOptions = write.writeOptions
    // The tags of a value that is gone stay, whether it expired, which is no conflict, or was removed.
    let kept = snapshot.usable == nil ? draft.tags(below: key) : tags
    if snapshot.usable == nil { writeOptions = writeOptions.keepingTags(kept) }
    saved[key]?.tags = write.namedTags(over: kept)
    let planned = try conditionalWriter.plan(write, writeOptions, for: key, over: snapshot)
    if isEqual != nil { saved[key]?.value = planned.replacement.value }
    return planned
  }

  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError) {
    try await writes.waitForCommit(outcome, location: "cache \"\(name)\"")
  }

  func waitForRoom() { secondTier?.partition.waitForRoom() }

  // A draft waits so only before it commits.
  nonisolated(nonsending) func waitForRoom() async { await secondTier?.partition.prepareToCommit() }
}

extension VersionBelow {
  fileprivate init(_ version: KeyVersion) {
    self.init(changes: version.changes)
  }

  /// Creates the version after one more change.
  fileprivate init(after version: KeyVersion) {
    self.init(changes: version.changes &+ 1)
  }
}
