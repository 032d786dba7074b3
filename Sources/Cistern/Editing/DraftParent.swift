/// What a draft lies over.
protocol DraftParent<Key, Value>: AnyObject, Sendable {
  associatedtype Key: Hashable & Sendable
  associatedtype Value: Sendable

  /// The cache's.
  var merge: (@Sendable (Value, Value) throws -> Value)? { get }
  /// The cache's.
  var isEqual: (@Sendable (Value, Value) -> Bool)? { get }

  /// The confirmed value of a key.
  ///
  /// - Parameter isByUser: whether the user gets it.
  func read(_ key: Key, isByUser: Bool) -> DraftReading<Value>
  /// Counts the key's changes until ``unwatch(_:)``; the count now.
  func watch(_ key: Key) -> UInt64
  func unwatch(_ key: Key)
  /// The draft has saved a key that it goes on to watch. A removal of the saved value by one of its tags is a change.
  func follow(_ key: Key)
  /// The count of changes of a key that is watched.
  func version(of key: Key) -> UInt64
  /// Takes all that a draft wrote, or nothing.
  func take(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> SavedDraft<Key>
  func waitForRoom()
  nonisolated(nonsending) func waitForRoom() async
  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError)
}

/// The effect of a save below.
struct SavedDraft<Key: Hashable & Sendable>: Sendable {
  let outcome: WriteOutcome
  /// The counts of changes of the draft's keys, with its own.
  let versions: [Key: UInt64]
}

extension DraftParent {
  /// Whether a key has changed since the draft first saw it.
  func isConflict(_ key: Key, of draft: DraftState<Key, Value>) -> Bool {
    draft.isConflict(key, version: version(of: key), isEqual: isEqual) { read(key, isByUser: false).value }
  }
}

extension Draft: DraftParent {
  func watch(_ key: Key) -> UInt64 {
    while true {
      // This draft must see the key, too: it finds changes below itself when it is saved.
      see(key)
      if let version = state.withLock({ $0.watch(key) }) { return version }
    }
  }

  func unwatch(_ key: Key) {
    let (isUnseen, former) = state.withLock { $0.unwatch(key) }
    withExtendedLifetime(former) {}
    if isUnseen { parent.unwatch(key) }
  }

  func follow(_ key: Key) {}

  func version(of key: Key) -> UInt64 { state.withLock { $0.writeCount(of: key) } }

  func take(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> SavedDraft<Key> {
    while true {
      var writes: [DraftState<Key, Value>.ShownWrite] = []
      var versions: [Key: UInt64] = [:]
      try policy.check(draft) { isConflict($0, of: draft) }
      for key in draft.batch.keys {
        let version = version(of: key)
        let theirs = policy.isMerge || isEqual != nil ? read(key, isByUser: false).value : nil
        versions[key] = version
        guard let write = try draft.write(of: key, over: theirs, version: version, isEqual: isEqual, policy) else {
          continue
        }
        writes.append(shown(write, of: key, count: version))
        versions[key] = version + 1
      }
      if let former = state.withLock({ $0.write(writes) }) {
        withExtendedLifetime(former) {}
        return SavedDraft(outcome: .nothing, versions: versions)
      }
    }
  }

  func waitForRoom() {}
  nonisolated(nonsending) func waitForRoom() async {}
  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError) {}
}
