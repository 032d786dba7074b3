/// The layer of a ``StoreDraft`` over one cache.
protocol StoreDraftLayer: AnyObject, Sendable {
  /// The identity of the cache.
  var identity: ObjectIdentifier { get }
  var isEmpty: Bool { get }
  func discard()
  func waitForRoom()
  nonisolated(nonsending) func prepareToCommit() async
  /// Returns the save of the present writes; nil for no writes.
  func beginSaving(_ policy: StoreDraftConflictPolicy, context: WriterContext?) -> (any StoreDraftSave)?
}

/// The save of one layer. Only the thread of the save uses it.
protocol StoreDraftSave: AnyObject {
  /// The identity of the cache.
  var identity: ObjectIdentifier { get }
  /// The name of the cache.
  var name: String { get }
  /// Returns the error with all keys in conflict, if there are any and the policy is to throw.
  func conflict() -> (any Error)?
  func joined() -> any JoinedMember
  /// Removes the saved writes from the draft.
  func end()
}

final class CacheDraftLayer<Key: Hashable & Sendable, Value: Sendable>: StoreDraftLayer {
  let draft: Draft<Key, Value>
  private let cache: Cache<Key, Value>

  init(_ cache: Cache<Key, Value>) {
    self.cache = cache
    draft = cache.draft()
  }

  var identity: ObjectIdentifier { ObjectIdentifier(cache) }
  var isEmpty: Bool { draft.isEmpty }
  func discard() { draft.discard() }
  func waitForRoom() { cache.waitForRoom() }
  nonisolated(nonsending) func prepareToCommit() async { await cache.waitForRoom() }

  func beginSaving(_ policy: StoreDraftConflictPolicy, context: WriterContext?) -> (any StoreDraftSave)? {
    let snapshot = draft.state.withLock { $0 }
    if snapshot.batch.isEmpty { return nil }
    return CacheDraftSave(draft, in: cache, saving: snapshot, policy: policy.policy(for: cache), context: context)
  }
}

final class CacheDraftSave<Key: Hashable & Sendable, Value: Sendable>: StoreDraftSave {
  private let draft: Draft<Key, Value>
  private let cache: Cache<Key, Value>
  private let snapshot: DraftState<Key, Value>
  private let policy: DraftConflictPolicy<Key, Value>
  private let context: WriterContext?
  /// The numbers of changes of the keys after the save.
  private var versions: [Key: VersionBelow] = [:]

  init(
    _ draft: Draft<Key, Value>, in cache: Cache<Key, Value>, saving snapshot: DraftState<Key, Value>,
    policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) {
    self.draft = draft
    self.cache = cache
    self.snapshot = snapshot
    self.policy = policy
    self.context = context
  }

  var identity: ObjectIdentifier { ObjectIdentifier(cache) }
  var name: String { cache.name }

  func conflict() -> (any Error)? {
    do throws(CisternError) {
      try policy.check(snapshot) { cache.isConflict($0, of: snapshot) }
      return nil
    } catch {
      return error.cause ?? error
    }
  }

  func joined() -> any JoinedMember {
    JoinedWrites(cache, keys: snapshot.batch.keys, context: context, dependsOnCached: true) {
      [self] key, read throws(CisternError) in try cache.plan(snapshot, key, over: read, policy, &versions)
    }
  }

  func end() { draft.endSaving(snapshot, versions: versions) }
}
