/// The layer below a draft: a cache or another draft.
protocol DraftParent<Key, Value>: AnyObject, Sendable {
  associatedtype Key: Hashable & Sendable
  associatedtype Value: Sendable

  /// The merge closure of the cache.
  var merge: (@Sendable (Value, Value) throws -> Value)? { get }
  /// The comparison of the cache.
  var isEqual: (@Sendable (Value, Value) -> Bool)? { get }

  /// Returns the confirmed value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value and its tags.
  func read(_ key: Key) -> DraftReading<Value>
  /// Returns the confirmed value of a key, which may be in grace. Expiry is no change.
  func usableValue(of key: Key) -> Value?
  /// Starts to count the changes of a key, until ``unwatch(_:)``. Returns the current state.
  func watch(_ key: Key) -> SeenKey<Value>
  func unwatch(_ key: Key)
  /// Returns the number of changes of a watched key.
  func version(of key: Key) -> VersionBelow
  /// Applies all writes of a draft, or none.
  func apply(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> SavedDraft<Key, Value>
  func waitForRoom()
  nonisolated(nonsending) func waitForRoom() async
  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError)
}

extension DraftParent {
  /// Returns whether a key has changed since the draft first used it.
  func isConflict(_ key: Key, of draft: DraftState<Key, Value>) -> Bool {
    draft.isConflict(key, version: version(of: key), isEqual: isEqual) { usableValue(of: key) }
  }
}

extension Draft: DraftParent {
  func watch(_ key: Key) -> SeenKey<Value> {
    while true {
      // This draft must watch the key as well, because it looks for changes below when it is saved.
      see(key)
      // The value is read outside the lock, because the layer below decodes it.
      let count = state.withLock { $0.writeCount(of: key) }
      let value = isEqual == nil ? nil : usableValue(of: key)
      if let seen = state.withLock({ $0.watch(key, value, at: count) }) { return seen }
    }
  }

  func unwatch(_ key: Key) {
    let (unseen, former) = state.withLock { $0.unwatch(key) }
    withExtendedLifetime(former) {}
    for key in unseen { parent.unwatch(key) }
  }

  func usableValue(of key: Key) -> Value? {
    let own = state.withLock { $0.ownReading(of: key) }
    return if let own { own.value } else { parent.usableValue(of: key) }
  }

  func version(of key: Key) -> VersionBelow { VersionBelow(state.withLock { $0.writeCount(of: key) }) }

  func apply(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> SavedDraft<Key, Value> {
    while true {
      let (writes, saved) = try plan(draft, policy)
      if let former = state.withLock({ $0.write(writes) }) {
        withExtendedLifetime(former) {}
        return SavedDraft(outcome: .nothing, keys: saved)
      }
    }
  }

  /// Plans the writes of a draft of this one, and the state of its keys after them. Calls the policy's merge closure
  /// and the cache's.
  func plan(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>
  ) throws(CisternError) -> (writes: [DraftState<Key, Value>.ComputedWrite], saved: [Key: SavedKey<Value>]) {
    var writes: [DraftState<Key, Value>.ComputedWrite] = []
    var saved: [Key: SavedKey<Value>] = [:]
    try policy.check(draft) { isConflict($0, of: draft) }
    for key in draft.batch.keys {
      let keyState = state.withLock { $0.keyState(of: key) }
      let version = VersionBelow(keyState.count)
      let theirs = policy.isMerge || isEqual != nil ? usableValue(of: key) : nil
      let resolved = try draft.write(of: key, over: theirs, version: version, isEqual: isEqual, policy)
      let (tags, isRemoved) = state.withLock { ($0.tags(of: key), $0.isRemoved(key)) }
      saved[key] = SavedKey(version: version, tags: tags, isOwn: resolved.isOwn(inMergingCache: merge != nil))
      if isEqual != nil { saved[key]?.value = theirs }
      guard var write = resolved.write else { continue }
      // A value that is gone here leaves the tags that the other draft knows.
      if isRemoved { write = write.keepingTags(draft.tags(below: key)) }
      let shown = shown(write, of: key, from: keyState)
      writes.append(shown)
      if isEqual != nil { saved[key]?.value = shown.shown }
      saved[key]?.version = VersionBelow(keyState.count.next())
      saved[key]?.tags = write.namedTags(over: tags)
    }
    return (writes, saved)
  }

  func waitForRoom() {}
  nonisolated(nonsending) func waitForRoom() async {}
  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError) {}
}
