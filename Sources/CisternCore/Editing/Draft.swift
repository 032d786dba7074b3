import Locking

/// A layer of unsaved writes over a cache. Reads that find no write in the layer continue in the cache. A save
/// applies all writes together.
///
/// ```swift
/// let draft = articles.draft()
/// draft[id]?.title = "A better title"
/// draft[otherID] = nil
/// try draft.save()
/// ```
///
/// A draft of a draft saves into that draft, and only the outermost one saves into the cache. A save is one batch
/// (``Cache/batch(context:_:)``): one atomic write and one set of changes. After a save or a discard, the draft
/// continues as an empty layer. Unsaved writes are dropped with the last reference to the draft.
///
/// A draft reads confirmed values. Unconfirmed edits (``Cache/editValue(forKey:options:_:confirmedBy:)``)
/// apply on top of the values that a draft saves, as on top of any other write. A save therefore makes no edit
/// permanent.
///
/// A save has a conflict if a key that the draft wrote has changed below it since the draft first read or wrote the
/// key. A ``DraftConflictPolicy`` resolves conflicts. These rules define a change:
///
/// - Expiry and eviction of a value are not changes.
/// - A removal is a change, even of an absent key. ``Cache/removeAll(context:)`` is a change of every key.
/// - A removal by tag or prefix is a change of the keys whose values it removes.
/// - With a ``CacheConfiguration/isEqual``, a key that has an equal value again has not changed, unless the draft has
///   read another value since.
///
/// In a cache that merges, a value that a draft sets is merged, too. It is merged with the draft's earlier values of
/// the key first, then with those of the drafts below, and finally with the cached value. If the draft
/// removes a key first, a later value replaces the one below. The value that a policy's closure returns replaces the
/// draft's own values. For a key that it wrote, a draft shows only its own values, merged with one another.
///
/// A value that is set without tags keeps the tags of the value that is below at the save. If that value is gone, it
/// keeps the tags that the value below had when the draft first used its key. A value in grace counts, and so does a
/// value that a policy's closure returns. If the draft itself removes a key first, a later value keeps no tags.
///
/// A draft may be used from any thread. The first use of a key costs as much as in the cache, and later ones as much
/// as in a dictionary.
public final class Draft<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let parent: any DraftParent<Key, Value>
  let merge: (@Sendable (Value, Value) throws -> Value)?
  let isEqual: (@Sendable (Value, Value) -> Bool)?
  // Keys and values that are taken out must be released outside the lock, because their deinitializers are the user's
  // code.
  let state: Guarded<DraftState<Key, Value>>
  let saves = SaveOrder()

  init(of parent: any DraftParent<Key, Value>) {
    self.parent = parent
    merge = parent.merge
    isEqual = parent.isEqual
    state = Guarded(DraftState(layering: parent.merge == nil ? .edits : .merges))
  }

  deinit {
    for key in state.withLock({ $0.seenKeys }) { parent.unwatch(key) }
  }

  /// Returns a draft of this draft. It saves into this one.
  public func draft() -> Draft { Draft(of: self) }

  /// Whether the draft has no unsaved writes.
  public var isEmpty: Bool { state.withLock { $0.isEmpty } }

  /// The keys with unsaved writes, in the order of their first writes. Of the keys that do not equal themselves, only
  /// the first one is listed, as the last element.
  public var writtenKeys: [Key] { state.withLock { $0.writtenKeys } }

  /// Accesses the value of a key: the draft's own if it wrote the key, and otherwise the value below. Setting nil
  /// removes the key.
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set {
      if let newValue { setValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// Returns the value of a key: the draft's own if it wrote the key, and otherwise the value below.
  ///
  /// - Parameter key: The key. If it does not equal itself, the value below is returned.
  /// - Returns: The value, or nil if the key is absent.
  public func value(forKey key: Key) -> Value? {
    // The draft could not find the base of a key that does not equal itself.
    if key == key { seeForItself(key) }
    return read(key).value
  }

  /// Adds a write that stores a value when the draft is saved.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - expiry: The lifetime of the value, or nil for that of the cache.
  ///   - tags: The tags of the value, for ``Cache/removeAll(tagged:context:)``, or nil for those of the value below.
  ///     The description of ``Draft`` has the rule.
  public func setValue(_ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil) {
    write(.store(value, WriteOptions(expiry: expiry, tags: tags)), to: key)
  }

  /// Adds a write that removes a key when the draft is saved.
  ///
  /// In a cache that merges, a value that is set after the removal replaces the one below.
  ///
  /// - Parameter key: The key.
  public func removeValue(forKey key: Key) {
    write(.remove, to: key)
  }

  /// Drops the unsaved writes.
  public func discard() {
    let (former, unseen) = state.withLock { $0.empty() }
    withExtendedLifetime(former) {}
    for key in unseen { parent.unwatch(key) }
  }
}

// MARK: Reading and writing

extension Draft {
  // A key without a base gets none: its draft was discarded during the read, and nothing would end the watch below.
  func read(_ key: Key) -> DraftReading<Value> {
    let (own, base) = state.withLock { ($0.ownReading(of: key), $0.base(of: key)) }
    if let own { return own }
    let reading = parent.read(key)
    let isChange = base.map { self.isChange(reading, of: key, since: $0) } ?? false
    state.withLock { $0.note(reading, of: key, in: base?.number, isChange: isChange) }
    return reading
  }

  /// Returns whether the user read another value than the baseline of the key. Calls the cache's comparison. Without
  /// one, the version alone decides about a conflict.
  ///
  /// The version does not count the writes of other processes, so the values are compared at an equal version, too. If
  /// the value is gone at the version of the baseline, it has expired or was evicted.
  private func isChange(_ reading: DraftReading<Value>, of key: Key, since base: DraftBase<Value>) -> Bool {
    guard let isEqual else { return false }
    return switch (base.baseline, reading.usable) {
    case (let baseline?, let usable?): !isEqual(baseline, usable)
    case (nil, _?): true
    case (_?, nil): parent.version(of: key) != base.version
    case (nil, nil): false
    }
  }

  private func write(_ write: KeyWrite<Value>, to key: Key) {
    // The save throws then.
    guard key == key else { return state.withLock { $0.writeUnequalKey(key) } }
    while true {
      // In each round: a discard or a save may have ended the watch of the key.
      seeForItself(key)
      let shown = shown(write, of: key, from: state.withLock { $0.keyState(of: key) })
      if let former = state.withLock({ $0.write([shown]) }) { return withExtendedLifetime(former) {} }
    }
  }

  /// Returns a write with the value that the draft shows after it. Calls the user's merge closure.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - key: The key.
  ///   - keyState: The state of the key before the value of the draft is read.
  /// - Returns: The write with its value.
  func shown(
    _ write: KeyWrite<Value>, of key: Key, from keyState: DraftState<Key, Value>.KeyState
  ) -> DraftState<Key, Value>.ComputedWrite {
    shown(write, of: key, from: keyState, over: state.withLock { $0.ownReading(of: key)?.value })
  }

  /// Returns a write with the value that the draft shows after it, over an earlier value of the draft.
  private func shown(
    _ write: KeyWrite<Value>, of key: Key, from keyState: DraftState<Key, Value>.KeyState, over own: Value?
  ) -> DraftState<Key, Value>.ComputedWrite {
    // A value that cannot be merged is shown unmerged. The save throws then.
    let shown = write.value(over: own) { incoming, earlier in
      guard let merge, let earlier else { return incoming }
      return (try? merge(earlier, incoming)) ?? incoming
    }
    return DraftState.ComputedWrite(key: key, keyState: keyState, write: write, shown: shown)
  }

  /// Watches a key below, before its first read or write in this draft or in a draft of this one.
  func see(_ key: Key) {
    while let saveCount = state.withLock({ $0.hasSeen(key) ? nil : $0.saveCount }) {
      let seen = parent.watch(key)
      if state.withLock({ $0.see(key, seen, since: saveCount) }) { return }
      parent.unwatch(key)
    }
  }

  private func seeForItself(_ key: Key) {
    repeat { see(key) } while !state.withLock({ $0.noteOwnUse(of: key) })
  }
}

// MARK: Saving

extension Draft {
  /// Saves all writes into the layer below, or nothing.
  ///
  /// The method returns when the values are readable there. Use ``commit(onConflict:context:)`` to wait for the disk.
  ///
  /// Saves of one draft on several threads follow each other, and are no conflicts of one another. The closures that a
  /// save calls must therefore not wait for another save of this draft, and not save a draft that another thread saves.
  /// After a discard during a save, a later write of a saved key can conflict with that save.
  ///
  /// - Parameters:
  ///   - policy: The resolution of conflicts, which are keys that changed below.
  ///   - context: The identity of the writer, for ``Change/context``.
  /// - Throws: `CisternError`, as ``Cache/batch(context:_:)`` does. If the policy is to throw, conflicts throw
  ///   ``CisternError/Code/conflict``, with a ``DraftConflictError`` as the cause. In all cases, the draft keeps its
  ///   writes and can be saved again, for example with another policy. After a write of a key that does not equal
  ///   itself, each save throws ``CisternError/Code/invalidArgument`` until a discard.
  public func save(
    onConflict policy: DraftConflictPolicy<Key, Value> = .throw, context: WriterContext? = nil
  ) throws(CisternError) {
    parent.waitForRoom()
    _ = try push(policy, context: context)
  }

  /// Saves all writes, like ``save(onConflict:context:)``, and returns when they are on disk.
  ///
  /// A draft of a draft does not wait for the disk, because it saves into the memory of the other draft. No draft waits
  /// for writes that another save has taken, for example of another thread.
  ///
  /// - Parameters:
  ///   - policy: The resolution of conflicts, which are keys that changed below.
  ///   - context: The identity of the writer, for ``Change/context``.
  /// - Throws: `CisternError`, as ``save(onConflict:context:)`` does, and if the disk refuses the writes or fails. In
  ///   the latter cases, the values are saved in memory, if it can hold them, and the draft no longer has the writes.
  public nonisolated(nonsending) func commit(
    onConflict policy: DraftConflictPolicy<Key, Value> = .throw, context: WriterContext? = nil
  ) async throws(CisternError) {
    await parent.waitForRoom()
    try await parent.waitForCommit(try push(policy, context: context))
  }

  /// The written keys that have changed below. More keys may change before a save. A save that another thread has not
  /// ended can add the keys that it saves.
  public var conflicts: [Key] {
    let snapshot = beginComparing()
    defer { endComparing(snapshot) }
    return snapshot.batch.keys.filter { parent.isConflict($0, of: snapshot) }
  }

  private func push(
    _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> WriteOutcome {
    try saves.perform { () throws(CisternError) in try pushInOrder(policy, context: context) }
  }

  /// Saves the draft. No other thread saves it at the same time.
  private func pushInOrder(
    _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> WriteOutcome {
    let snapshot = beginComparing()
    defer { endComparing(snapshot) }
    try snapshot.checkKeys()
    // Without writes, too: the draft then forgets the keys that it has read.
    let saved = try parent.apply(snapshot, policy, context: context)
    endSaving(snapshot, saved.keys)
    return saved.outcome
  }

  /// Returns the present state, for a comparison with the layer below. Its keys stay watched there until
  /// ``endComparing(_:)``.
  func beginComparing() -> DraftState<Key, Value> { state.withLock { $0.beginComparing() } }

  /// Ends a comparison that ``beginComparing()`` began.
  func endComparing(_ compared: DraftState<Key, Value>) {
    for key in state.withLock({ $0.endComparing(compared) }) { parent.unwatch(key) }
  }

  /// Removes the writes of a snapshot, after a save applied them below.
  func endSaving(_ snapshot: DraftState<Key, Value>, _ saved: [Key: SavedKey<Value>]) {
    while true {
      // Computed outside the lock, because it calls the user's merge closure.
      let later = state.withLock { $0.writes(after: snapshot) }.map { one in
        shown(one.write, of: one.key, from: one.keyState, over: nil)
      }
      let ended = state.withLock { $0.endSaving(snapshot, saved, later: later) }
      guard let (former, unseen) = ended else { continue }
      withExtendedLifetime(former) {}
      for key in unseen { parent.unwatch(key) }
      return
    }
  }
}
