/// The layer of a ``StoreDraft`` over one cache.
protocol StoreDraftLayer: AnyObject, Sendable {
  var isEmpty: Bool { get }
  func discard()
  func waitForRoom()
  nonisolated(nonsending) func prepareToCommit() async
  /// Returns the save of the current writes. A layer without writes has one, too, because it then forgets the keys that
  /// it has read.
  func beginSaving(_ policy: StoreDraftConflictPolicy, context: WriterContext?) -> any StoreDraftSave
}

/// The save of one layer. Only the thread of the save uses it.
protocol StoreDraftSave: AnyObject {
  /// The identity of the cache.
  var identity: ObjectIdentifier { get }
  /// The name of the cache.
  var name: String { get }
  /// Whether the save has writes.
  var hasWrites: Bool { get }
  /// Throws if the draft wrote a key that does not equal itself.
  func checkKeys() throws(CisternError)
  /// Returns the error with all keys in conflict, if there are any and the policy is to throw.
  func conflict() -> (any Error)?
  /// The write into the cache. Only for a draft over caches.
  func memberWrites() -> any StoreWriteMember
  /// Plans the writes into the draft below. Only for a draft of a draft. Throws if a key changed since the check for
  /// conflicts, and the policy is to throw.
  func plan() throws(CisternError)
  /// Applies the planned writes while the layer below is locked, if none of their keys was written since, and if `rest`
  /// returns true. Returns whether it did.
  func take(_ rest: () -> Bool) -> Bool
  /// Removes the saved writes from the draft.
  func end()
  /// Ends the watches that the save has prolonged. Call it once, whether or not the layers were saved.
  func close()
}

final class CacheDraftLayer<Key: Hashable & Sendable, Value: Sendable>: StoreDraftLayer {
  let draft: Draft<Key, Value>
  private let cache: Cache<Key, Value>
  /// The layer of the draft below; nil for a draft over caches.
  private let below: Draft<Key, Value>?

  init(_ cache: Cache<Key, Value>, below: Draft<Key, Value>?) {
    self.cache = cache
    self.below = below
    draft = below?.draft() ?? cache.draft()
  }

  var isEmpty: Bool { draft.isEmpty }
  func discard() { draft.discard() }
  func waitForRoom() { draft.parent.waitForRoom() }
  nonisolated(nonsending) func prepareToCommit() async { await draft.parent.waitForRoom() }

  func beginSaving(_ policy: StoreDraftConflictPolicy, context: WriterContext?) -> any StoreDraftSave {
    let terms = DraftSavingTerms(policy: policy.policy(for: cache), context: context)
    return CacheDraftSave(draft.beginComparing(), of: draft, into: cache, below: below, terms)
  }
}

/// The options of the save of one layer.
struct DraftSavingTerms<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let policy: DraftConflictPolicy<Key, Value>
  let context: WriterContext?
}

final class CacheDraftSave<Key: Hashable & Sendable, Value: Sendable>: StoreDraftSave {
  private let draft: Draft<Key, Value>
  private let cache: Cache<Key, Value>
  private let below: Draft<Key, Value>?
  private let snapshot: DraftState<Key, Value>
  private let terms: DraftSavingTerms<Key, Value>
  /// The state of the keys after the save.
  private var saved: [Key: SavedKey] = [:]
  /// The planned writes into the draft below.
  private var planned: [DraftState<Key, Value>.ShownWrite] = []
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

  func take(_ rest: () -> Bool) -> Bool {
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
