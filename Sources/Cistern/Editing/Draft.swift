import Locking

/// A scratch layer over a cache: reads go through to the cache, writes stay in the layer until they are saved together.
///
/// ```swift
/// let draft = articles.draft()
/// draft[id]?.title = "A better title"
/// draft[otherID] = nil
/// try draft.save()
/// ```
///
/// A draft of a draft saves into that draft, and only the outermost into the cache. Saving is one batch
/// (``Cache/batch(context:_:)``): one commit, one set of changes. A draft goes on after it was saved or discarded, as an
/// empty layer over what there is then. What was not saved when the last reference goes, is dropped.
///
/// A draft reads confirmed values. Unconfirmed edits (``Cache/editValue(forKey:expiry:tags:context:_:confirmedBy:)``) lie over
/// the values that a draft saves, as over any other write, so that a save makes no edit permanent.
///
/// If a key that the draft wrote has changed below it since the draft first read or wrote it, the save has a
/// conflict. A ``DraftConflictPolicy`` decides it. The end of a value by expiry or eviction is no change. A removal is a
/// change, also of an absent key, and ``Cache/removeAll()`` is one of every key. A removal by tag or prefix is a change of the keys
/// whose values it removes. With a ``CacheConfiguration/isEqual``, a key that has an equal value again has not changed.
///
/// In a cache that merges, a value that a draft sets is merged as any other. First come the draft's earlier values of the key,
/// then those of the drafts below, and at last the cached one. The same holds for a value that a policy's closure returns. A
/// key that is removed first is not merged, so that its value replaces the one below. A draft shows its own values of a key that
/// it wrote, merged with one another.
///
/// A value that is set keeps the tags of the one below unless new ones are named.
///
/// May be used from any thread. A read or write costs what it does in a dictionary, the first of a key what it does in the
/// cache.
public final class Draft<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let parent: any DraftParent<Key, Value>
  let merge: (@Sendable (Value, Value) throws -> Value)?
  let isEqual: (@Sendable (Value, Value) -> Bool)?
  // Values leave it outside the lock.
  let state: Guarded<DraftState<Key, Value>>

  init(of parent: any DraftParent<Key, Value>) {
    self.parent = parent
    merge = parent.merge
    isEqual = parent.isEqual
    state = Guarded(DraftState(layering: parent.merge == nil ? .edits : .merges))
  }

  deinit {
    for key in state.withLock({ $0.seenKeys }) { parent.unwatch(key) }
  }

  /// A draft of this one: it saves into this one.
  public func draft() -> Draft { Draft(of: self) }

  /// Whether nothing waits to be saved.
  public var isEmpty: Bool { state.withLock { $0.batch.isEmpty } }

  /// The keys that were written and wait to be saved, in the order of their first writes.
  public var writtenKeys: [Key] { state.withLock { $0.batch.keys } }

  /// The value of a key: the draft's own if it wrote one, else that of what is below. Setting nil removes it.
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set {
      if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// The value of a key: the draft's own if it wrote one, else that of what is below.
  public func value(forKey key: Key) -> Value? {
    seeForItself(key)
    return read(key, isByUser: true).value
  }

  /// Will store a value, when the draft is saved.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: its key.
  ///   - expiry: the value's lifetime; nil for the cache's.
  ///   - tags: the tags of the value, for ``Cache/removeAll(tagged:context:)``; nil for those of the value below.
  public func setValue(_ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil) {
    write(.store(value, Storing(expiry: expiry, tags: tags)), to: key)
  }

  /// Will remove a key, when the draft is saved. In a cache that merges, a value that is set after it replaces the one below.
  public func removeValue(forKey key: Key) {
    write(.remove, to: key)
  }

  /// Drops what was not saved.
  public func discard() {
    let (former, unseen) = state.withLock { $0.empty() }
    withExtendedLifetime(former) {}
    for key in unseen { parent.unwatch(key) }
  }
}

// MARK: Reading and writing

extension Draft {
  func read(_ key: Key, isByUser: Bool) -> DraftReading<Value> {
    see(key)
    if let own = state.withLock({ $0.ownReading(of: key) }) { return own }
    return readBelow(key, isByUser: isByUser)
  }

  /// Reads below, and notes the value for later comparison.
  @discardableResult
  private func readBelow(_ key: Key, isByUser: Bool) -> DraftReading<Value> {
    let reading = parent.read(key, isByUser: isByUser)
    // Asked after the value was read: if it is that of the draft's base, so is the value.
    let version = isEqual == nil ? nil : parent.version(of: key)
    state.withLock { $0.note(reading, of: key, version: version, isByUser: isByUser) }
    return reading
  }

  private func write(_ write: KeyWrite<Value>, to key: Key) {
    seeForItself(key)
    if isEqual != nil, case nil = state.withLock({ $0.baseline(of: key) }) { readBelow(key, isByUser: false) }
    while true {
      let shown = shown(write, of: key, count: version(of: key))
      if let former = state.withLock({ $0.write([shown]) }) { return withExtendedLifetime(former) {} }
    }
  }

  /// A write, and what the draft shows after it. Runs the user's merge.
  ///
  /// - Parameter count: how often the key has been written.
  func shown(_ write: KeyWrite<Value>, of key: Key, count: UInt64) -> DraftState<Key, Value>.ShownWrite {
    let own = state.withLock { $0.ownReading(of: key)?.value }
    // A value that cannot be merged is shown as it is. The save throws.
    let shown = write.value(over: own) { incoming, earlier in
      guard let merge, let earlier else { return incoming }
      return (try? merge(earlier, incoming)) ?? incoming
    }
    return DraftState.ShownWrite(key: key, count: count, write: write, shown: shown)
  }

  /// Begins to watch a key below, the first time that it is read or written here, or by a draft of this one.
  func see(_ key: Key) {
    guard state.withLock({ !$0.hasSeen(key) }) else { return }
    let version = parent.watch(key)
    if !state.withLock({ $0.see(key, version: version) }) { parent.unwatch(key) }
  }

  private func seeForItself(_ key: Key) {
    repeat { see(key) } while !state.withLock({ $0.noteOwnUse(of: key) })
  }
}

// MARK: Saving

extension Draft {
  /// Saves what was written into what is below: all of it, or nothing.
  ///
  /// Returns when it is readable there; ``commit(onConflict:context:)`` waits for the disk. Throws `CisternError` as
  /// ``Cache/batch(context:_:)`` does, with ``CisternError/Code/conflict`` where the policy is to throw: its cause is a
  /// ``DraftConflictError`` with the keys. The draft keeps its writes then, and can be saved by another policy.
  ///
  /// - Parameters:
  ///   - policy: what becomes of keys that changed below.
  ///   - context: who writes, for ``Change/context``.
  public func save(
    onConflict policy: DraftConflictPolicy<Key, Value> = .throw, context: WriterContext? = nil
  ) throws(CisternError) {
    parent.waitForRoom()
    _ = try push(policy, context: context)
  }

  /// Saves, as ``save(onConflict:context:)`` does, and returns when it is on disk. A draft of a draft is not: it saves into
  /// that one's memory.
  public nonisolated(nonsending) func commit(
    onConflict policy: DraftConflictPolicy<Key, Value> = .throw, context: WriterContext? = nil
  ) async throws(CisternError) {
    await parent.waitForRoom()
    try await parent.waitForCommit(try push(policy, context: context))
  }

  /// The keys that were written and have changed below since. Others may change before a save.
  public var conflicts: [Key] {
    let snapshot = state.withLock { $0 }
    return snapshot.batch.keys.filter { parent.isConflict($0, of: snapshot) }
  }

  private func push(
    _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> WriteOutcome {
    let snapshot = state.withLock { $0 }
    if snapshot.batch.isEmpty { return .nothing }
    let saved = try parent.take(snapshot, policy, context: context)
    let (former, unseen, followed) = state.withLock { $0.endSaving(snapshot, versions: saved.versions) }
    withExtendedLifetime(former) {}
    for key in unseen { parent.unwatch(key) }
    for key in followed { parent.follow(key) }
    return saved.outcome
  }
}
