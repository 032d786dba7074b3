import Locking

/// A layer of unsaved writes over several caches of a store. A save applies all writes together.
///
/// ```swift
/// let changes = store.draft()
/// changes[id, in: articles]?.title = "A better title"
/// changes[id, in: drafts] = nil
/// try changes.save()
/// ```
///
/// In each cache, the draft behaves like a ``Draft``: for reads, conflicts, tags, merging and unconfirmed edits. A save is one
/// batch over all caches (``Store/batch(context:_:)``). After a save or a discard, the draft continues as an empty layer.
///
/// A draft may be used from any thread. A write of another thread during a save is saved, or stays in the draft.
public final class StoreDraft: Sendable {
  private let store: Store
  /// The layers over the caches that were used, in the order of their first uses.
  private let layers = Guarded<[any StoreDraftLayer]>([])

  init(of store: Store) {
    self.store = store
  }

  /// Accesses the value of a key: the draft's own if it wrote the key, and otherwise the cached one. Setting nil removes
  /// the key.
  public subscript<Key, Value>(key: Key, in cache: Cache<Key, Value>) -> Value? {
    get { layer(over: cache)[key] }
    set { layer(over: cache)[key] = newValue }
  }

  /// Returns the value of a key: the draft's own if it wrote the key, and otherwise the cached one.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cache: A cache of the store.
  /// - Returns: The value, or nil if the key is absent.
  public func value<Key, Value>(forKey key: Key, in cache: Cache<Key, Value>) -> Value? {
    layer(over: cache).value(forKey: key)
  }

  /// Adds a write that stores a value when the draft is saved.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - cache: A cache of the store. If it is not of this store, the save throws.
  ///   - expiry: The lifetime of the value, or nil for that of the cache.
  ///   - tags: The tags of the value, or nil for those of the cached value.
  public func setValue<Key, Value>(
    _ value: Value, forKey key: Key, in cache: Cache<Key, Value>, expiry: Expiry? = nil, tags: [String]? = nil
  ) {
    layer(over: cache).setValue(value, forKey: key, expiry: expiry, tags: tags)
  }

  /// Adds a write that removes a key when the draft is saved.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - cache: A cache of the store. If it is not of this store, the save throws.
  public func removeValue<Key, Value>(forKey key: Key, in cache: Cache<Key, Value>) {
    layer(over: cache).removeValue(forKey: key)
  }

  /// Returns a draft of this draft's layer over one cache. It saves into this draft.
  ///
  /// - Parameter cache: A cache of the store.
  public func draft<Key, Value>(of cache: Cache<Key, Value>) -> Draft<Key, Value> { layer(over: cache).draft() }

  /// Whether the draft has no unsaved writes.
  public var isEmpty: Bool { layers.withLock { $0 }.allSatisfy(\.isEmpty) }

  /// Returns the keys of a cache with unsaved writes, in the order of their first writes.
  ///
  /// - Parameter cache: A cache of the store.
  public func writtenKeys<Key, Value>(in cache: Cache<Key, Value>) -> [Key] { layer(over: cache).writtenKeys }

  /// Returns the written keys of a cache that have changed there. More keys may change before a save.
  ///
  /// - Parameter cache: A cache of the store.
  public func conflicts<Key, Value>(in cache: Cache<Key, Value>) -> [Key] { layer(over: cache).conflicts }

  /// Drops the unsaved writes.
  public func discard() {
    for layer in layers.withLock({ $0 }) { layer.discard() }
  }

  private func layer<Key, Value>(over cache: Cache<Key, Value>) -> Draft<Key, Value> {
    // A layer retains its cache, so that no other cache can have its identity.
    let identity = ObjectIdentifier(cache)
    if let present = layers.withLock({ $0.first { $0.identity == identity } }) as? CacheDraftLayer<Key, Value> {
      return present.draft
    }
    let made = CacheDraftLayer(cache)
    let layer = layers.withLock { layers -> (any StoreDraftLayer)? in
      if let first = layers.first(where: { $0.identity == identity }) { return first }
      layers.append(made)
      return nil
    }
    return (layer as? CacheDraftLayer<Key, Value> ?? made).draft
  }
}

// MARK: Saving

extension StoreDraft {
  /// Saves all writes into the caches, or nothing.
  ///
  /// The method returns when the values are readable. Use ``commit(onConflict:context:)`` to wait for the disk.
  ///
  /// - Parameters:
  ///   - policy: The resolution of conflicts, which are keys that changed in a cache.
  ///   - context: The identity of the writer, for ``Change/context``.
  /// - Throws: `CisternError`, as ``Store/batch(context:_:)`` does. If the policy is to throw, conflicts throw
  ///   ``CisternError/Code/conflict``, with a ``StoreDraftConflictError`` as the cause. In all cases, the draft keeps its
  ///   writes and can be saved again.
  public func save(
    onConflict policy: StoreDraftConflictPolicy = .throw, context: WriterContext? = nil
  ) throws(CisternError) {
    for layer in layers.withLock({ $0 }) where !layer.isEmpty { layer.waitForRoom() }
    _ = try push(policy, context: context)
  }

  /// Saves all writes, like ``save(onConflict:context:)``, and returns when they are on disk.
  ///
  /// - Parameters:
  ///   - policy: The resolution of conflicts, which are keys that changed in a cache.
  ///   - context: The identity of the writer, for ``Change/context``.
  /// - Throws: `CisternError`, as ``save(onConflict:context:)`` does, and if the disk fails. After a disk failure,
  ///   the values are saved in memory and the draft no longer has the writes.
  public nonisolated(nonsending) func commit(
    onConflict policy: StoreDraftConflictPolicy = .throw, context: WriterContext? = nil
  ) async throws(CisternError) {
    for layer in layers.withLock({ $0 }) where !layer.isEmpty { await layer.prepareToCommit() }
    try await push(policy, context: context).waitForCommit()
  }

  private func push(
    _ policy: StoreDraftConflictPolicy, context: WriterContext?
  ) throws(CisternError) -> JoinedOutcome {
    try store.checkIsOpen(to: "saving a draft")
    let saves = layers.withLock { $0 }.compactMap { $0.beginSaving(policy, context: context) }
    while true {
      let conflicts = saves.compactMap { save in
        save.conflict().map { (cache: save.identity, name: save.name, error: $0) }
      }
      if !conflicts.isEmpty { throw StoreDraftConflictError(conflicts).wrapped }
      do throws(CisternError) {
        let outcome = try store.shared.write(saves.map { $0.joined() })
        for save in saves { save.end() }
        return outcome
      } catch {
        // A key changed after the check. The next check finds all of them.
        if error.code != .conflict { throw error }
      }
    }
  }
}

extension Store {
  /// Creates a scratch layer over the caches of the store. Its writes stay in it until they are saved together.
  public func draft() -> StoreDraft { StoreDraft(of: self) }
}
