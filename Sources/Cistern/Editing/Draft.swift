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
/// Where a key that the draft wrote has changed below it since the draft first read or wrote it, the save has a
/// conflict, which a ``DraftConflictPolicy`` decides. That a value expired or was evicted is no change; a removal is one
/// also where there was nothing, and ``Cache/removeAll()`` and any removal by tag or prefix one of every key.
///
/// May be used from any thread. A read or write costs what it does in a dictionary, the first of a key what it does in the
/// cache.
public final class Draft<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let parent: any DraftParent<Key, Value>
  // Values leave it outside the lock.
  private let state = Guarded(DraftState<Key, Value>())

  init(of parent: any DraftParent<Key, Value>) {
    self.parent = parent
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
    see(key)
    switch state.withLock({ $0.batch.writes[key] }) {
    case .store(let value, _): return value
    case .remove: return nil
    case nil: break
    }
    let value = parent.value(forKey: key)
    let former = state.withLock { $0.noteOriginal(value, of: key) }
    withExtendedLifetime(former) {}
    return value
  }

  /// Will store a value, when the draft is saved.
  public func setValue(_ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String] = []) {
    write(.store(value, Storing(expiry: expiry, tags: tags)), to: key)
  }

  /// Will remove a key, when the draft is saved.
  public func removeValue(forKey key: Key) {
    write(.remove, to: key)
  }

  /// Drops what was not saved.
  public func discard() {
    let former = state.withLock { $0.empty() }
    for key in former.seenKeys { parent.unwatch(key) }
  }

  private func write(_ write: Batch<Key, Value>.Write, to key: Key) {
    see(key)
    let former = state.withLock { $0.write(write, to: key) }
    withExtendedLifetime(former) {}
  }

  /// Begins to watch a key below, the first time that it is read or written.
  private func see(_ key: Key) {
    guard state.withLock({ !$0.hasSeen(key) }) else { return }
    let version = parent.watch(key)
    if !state.withLock({ $0.see(key, version: version) }) { parent.unwatch(key) }
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
    return snapshot.batch.keys.filter { snapshot.isConflict($0, version: parent.version(of: $0)) }
  }

  private func push(
    _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> WriteOutcome {
    let snapshot = state.withLock { $0 }
    if snapshot.batch.isEmpty { return .nothing }
    let outcome = try parent.take(snapshot, policy, context: context)
    let (former, rewritten) = state.withLock { $0.endSaving(snapshot) }
    for key in former.seenKeys { parent.unwatch(key) }
    // Written anew while the rest was saved: over what was saved.
    for key in rewritten { see(key) }
    return outcome
  }
}

/// What a draft lies over.
protocol DraftParent<Key, Value>: AnyObject, Sendable {
  associatedtype Key: Hashable & Sendable
  associatedtype Value: Sendable

  func value(forKey key: Key) -> Value?
  /// Counts the key's changes until ``unwatch(_:)``; the count now.
  func watch(_ key: Key) -> UInt64
  func unwatch(_ key: Key)
  /// The count of changes of a key that is watched.
  func version(of key: Key) -> UInt64
  /// Takes all that a draft wrote, or nothing.
  func take(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> WriteOutcome
  func waitForRoom()
  nonisolated(nonsending) func waitForRoom() async
  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError)
}

extension Draft: DraftParent {
  func watch(_ key: Key) -> UInt64 {
    // What changes below this one, it will find when it is saved itself.
    see(key)
    return version(of: key)
  }

  func unwatch(_ key: Key) {}

  func version(of key: Key) -> UInt64 { state.withLock { $0.writeCount(of: key) } }

  func take(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> WriteOutcome {
    while true {
      var writes: [(key: Key, version: UInt64, write: Batch<Key, Value>.Write)] = []
      try policy.check(draft) { version(of: $0) }
      for key in draft.batch.keys {
        let version = version(of: key)
        let theirs = policy.isMerge ? value(forKey: key) : nil
        if let write = try draft.write(of: key, over: theirs, version: version, policy) {
          writes.append((key, version, write.write))
        }
      }
      if let former = state.withLock({ $0.writeAll(writes) }) {
        withExtendedLifetime(former) {}
        return .nothing
      }
    }
  }

  func waitForRoom() {}
  nonisolated(nonsending) func waitForRoom() async {}
  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError) {}
}
