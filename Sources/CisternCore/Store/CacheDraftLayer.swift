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
