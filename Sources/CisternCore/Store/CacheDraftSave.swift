final class CacheDraftSave<Key: Hashable & Sendable, Value: Sendable>: StoreDraftSave {
  private let draft: Draft<Key, Value>
  private let cache: Cache<Key, Value>
  private let below: Draft<Key, Value>?
  private let snapshot: DraftState<Key, Value>
  private let terms: DraftSavingTerms<Key, Value>
  /// The state of the keys after the save.
  private var saved: [Key: SavedKey<Value>] = [:]
  /// The planned writes into the draft below.
  private var planned: [DraftState<Key, Value>.ComputedWrite] = []
  /// The values that the save replaced in the draft below. They are released with the save, outside all locks.
  private var replaced: [DraftState<Key, Value>.Replaced] = []

  init(
    _ snapshot: DraftState<Key, Value>, of draft: Draft<Key, Value>, into cache: Cache<Key, Value>,
    below: Draft<Key, Value>?, _ terms: DraftSavingTerms<Key, Value>
  ) {
    self.snapshot = snapshot
    self.draft = draft
    self.cache = cache
    self.below = below
    self.terms = terms
  }

  var identity: ObjectIdentifier { ObjectIdentifier(cache) }
  var name: String { cache.name }
  var hasWrites: Bool { !snapshot.isEmpty }

  func checkKeys() throws(CisternError) { try snapshot.checkKeys() }

  func conflict() -> (any Error)? {
    do throws(CisternError) {
      try terms.policy.check(snapshot) { draft.parent.isConflict($0, of: snapshot) }
      return nil
    } catch {
      return error.cause ?? error
    }
  }

  func memberWrites() -> any StoreWriteMember {
    MemberWrites(cache, keys: snapshot.batch.keys, context: terms.context, dependsOnCached: true) {
      [self] key, read throws(CisternError) in try cache.plan(snapshot, key, over: read, terms.policy, &saved)
    }
  }

  func plan() throws(CisternError) {
    guard let below else { preconditionFailure("a draft over caches saves by a batch") }
    (planned, saved) = try below.plan(snapshot, terms.policy)
  }

  func applyPlan(with rest: () -> Bool) -> Bool {
    guard let below else { preconditionFailure("a draft over caches saves by a batch") }
    let former = below.state.withLock { state in
      state.accepts(planned) && rest() ? state.write(planned) : nil
    }
    guard let former else { return false }
    replaced = former
    return true
  }

  func end() { draft.endSaving(snapshot, saved) }
  func close() { draft.endComparing(snapshot) }
}
