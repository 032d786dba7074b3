import Synchronization

// Removing many keys at once. A removal by tag or prefix visits no entry: it numbers the invalidation. Older values that it
// concerns count as gone in both tiers from then on, and are released in the background.

extension Cache {
  /// Removes all values with a tag, from both tiers at once. A fetch under way whose value has the tag is not stored.
  ///
  /// O(1), however many values there are: some microseconds. A task releases the values of memory. Records on disk are
  /// purged in the background, in small transactions. A crash within the store's commit interval may bring the values back;
  /// ``commitRemovalOfAll(tagged:context:)`` waits. Observers get one event, ``Change/Event/invalidated(_:)``, and none
  /// for each key. An empty tag is no tag: no value has it.
  @inlinable
  public func removeAll(tagged tag: String, context: WriterContext? = nil) {
    guard !tag.isEmpty else { return }
    _ = invalidate(tag: tag, context: context)
  }

  /// As ``removeAll(tagged:context:)``, and returns when it is on disk: no crash brings a value back.
  ///
  /// Throws `CisternError` if the disk fails.
  public nonisolated(nonsending) func commitRemovalOfAll(
    tagged tag: String, context: WriterContext? = nil
  ) async throws(CisternError) {
    guard !tag.isEmpty else { return }
    if let ticket = invalidate(tag: tag, context: context) { try await secondTier?.partition.waitForCommit(ticket) }
  }

  /// Removes every key for which `isRemoved` returns true, one after the other, from both tiers. A fetch of such a key that was
  /// under way when this began is not stored: its waiters get the value. Keys that are stored while it runs may stay.
  ///
  /// Visits every key: O(n) on the calling thread, and reads the disk in small steps. If a tag or a prefix covers the
  /// keys, ``removeAll(tagged:context:)`` and `removeAll(withPrefix:)` visit none.
  ///
  /// - Parameters:
  ///   - isRemoved: called outside all locks and transactions, once for a key.
  ///   - context: the writer, for ``Change/context``.
  /// - Returns: the number of removed keys. A key that was only being fetched does not count. Neither does a key whose
  ///   record a newer schema version wrote: the record is removed, and the key was absent for readers and observers.
  @discardableResult
  public func removeAll(where isRemoved: (Key) throws -> Bool, context: WriterContext? = nil) rethrows -> Int {
    // The value of a key in progress is in no tier yet. A removal prevents that it is stored.
    let fetched = Set(table.keys(includingInProgress: true))
    var keys = Set(table.keys())
    // Memory need not hold what unconfirmed edits show.
    keys.formUnion(edits.keys)
    // Keys of a newer schema's records. They are removed and not counted: readers take the keys for absent.
    var foreign: Set<Key> = []
    if let secondTier {
      // Staged keys first: a key that is committed in between is found among the committed ones. A record that is being
      // committed may have been removed since.
      for bytes in secondTier.partition.stagedKeys where secondTier.partition.presence(of: bytes.rawSpan) != false {
        if let key = secondTier.key(bytes) { keys.insert(key) }
      }
      secondTier.partition.forEachRecord { bytes, metadata, _ in
        if let key = secondTier.key(bytes.copiedBytes()), keys.insert(key).inserted,
          metadata.schemaVersion > writes.schemaVersion
        {
          foreign.insert(key)
        }
        return true
      }
    }
    var count = 0
    for key in keys.union(fetched) where try isRemoved(key) {
      removeValue(forKey: key, context: context)
      if keys.contains(key), !foreign.contains(key) { count += 1 }
    }
    return count
  }
}

extension Cache where Key: CacheKey {
  /// Removes every key whose bytes begin with `prefix`, as ``removeAll(tagged:context:)`` removes by tag. A fetch of such a
  /// key that is under way is not stored. The empty prefix removes all keys.
  ///
  /// O(1), however many keys there are.
  public func removeAll(withPrefix prefix: KeyPrefix, context: WriterContext? = nil) {
    _ = invalidate(bytesPrefix: prefix.bytes, context: context)
  }

  /// As `removeAll(withPrefix:)`, and returns when it is on disk: no crash brings a value back.
  ///
  /// Throws `CisternError` if the disk fails.
  public nonisolated(nonsending) func commitRemovalOfAll(
    withPrefix prefix: KeyPrefix, context: WriterContext? = nil
  ) async throws(CisternError) {
    if let ticket = invalidate(bytesPrefix: prefix.bytes, context: context) {
      try await secondTier?.partition.waitForCommit(ticket)
    }
  }
}

extension Cache where Key == String {
  /// Removes every key that begins with `prefix`, by its UTF-8 bytes, as ``removeAll(tagged:context:)`` removes by tag. A
  /// fetch of such a key that is under way is not stored. The empty prefix removes all keys.
  ///
  /// O(1), however many keys there are.
  public func removeAll(withPrefix prefix: String, context: WriterContext? = nil) {
    removeAll(withPrefix: KeyPrefix(prefix), context: context)
  }

  /// As `removeAll(withPrefix:)`, and returns when it is on disk: no crash brings a value back.
  ///
  /// Throws `CisternError` if the disk fails.
  public nonisolated(nonsending) func commitRemovalOfAll(
    withPrefix prefix: String, context: WriterContext? = nil
  ) async throws(CisternError) {
    try await commitRemovalOfAll(withPrefix: KeyPrefix(prefix), context: context)
  }
}

extension Cache where Key == [UInt8] {
  /// Removes every key that begins with `prefix`, as ``removeAll(tagged:context:)`` removes by tag. A fetch of such a key
  /// that is under way is not stored. The empty prefix removes all keys.
  ///
  /// O(1), however many keys there are.
  public func removeAll(withPrefix prefix: [UInt8], context: WriterContext? = nil) {
    removeAll(withPrefix: KeyPrefix(prefix), context: context)
  }

  /// As `removeAll(withPrefix:)`, and returns when it is on disk: no crash brings a value back.
  ///
  /// Throws `CisternError` if the disk fails.
  public nonisolated(nonsending) func commitRemovalOfAll(
    withPrefix prefix: [UInt8], context: WriterContext? = nil
  ) async throws(CisternError) {
    try await commitRemovalOfAll(withPrefix: KeyPrefix(prefix), context: context)
  }
}

// MARK: One invalidation, from top to bottom

extension Cache where Key: CacheKey {
  fileprivate func invalidate(bytesPrefix bytes: [UInt8], context: WriterContext?) -> CommitTicket? {
    invalidate(.prefix(bytes), context: context) { key, _ in
      key.hasKeyBytesPrefix(bytes)
    } add: { pending, number in
      pending.add(prefix: bytes, number: number) { key, prefixes in
        key.withKeyBytes { prefixes.newestVersion(ofPrefixesOf: $0) }
      }
    }
  }
}

extension Cache {
  @inlinable
  func invalidate(tag: String, context: WriterContext?) -> CommitTicket? {
    invalidate(.tag(tag), context: context) { _, tags in
      tags.contains(tag)
    } add: { pending, number in
      pending.add(tag: tag, number: number)
    }
  }

  /// Invalidates in both tiers, and notifies observers.
  @inlinable
  func invalidate(
    _ what: Invalidation, context: WriterContext?, concerns: (Key, [String]) -> Bool,
    add: (inout PendingInvalidations<Key>, InvalidationVersion) -> Void
  ) -> CommitTicket? {
    if widensInvalidations { return clearWidely(context: context) }
    let staged = stageInvalidation(what, context: context, in: nil, concerns: concerns, add: add)
    // Its edits are released outside the locks.
    defer { withExtendedLifetime(staged) {} }
    finishInvalidation()
    return staged.ticket
  }

  /// Whether the second tier removes all records instead of those that an invalidation concerns. Then memory does the same:
  /// the tiers, observers and counts agree.
  @usableFromInline
  var widensInvalidations: Bool {
    guard let partition = secondTier?.partition, partition.mode != .closed else { return false }
    return !partition.invalidatesExactly
  }

  /// Removes every key instead of those with a tag or a prefix, and counts that.
  @usableFromInline
  func clearWidely(context: WriterContext?) -> CommitTicket? {
    table.count(0) { $0.widenedRemovals += 1 }
    return clear(context: context, isWidened: true)
  }

  /// Invalidates in the second tier and in all shards at once: no writer finds the invalidation in one of them only.
  /// Runs no code of the user, except a key's.
  ///
  /// - Parameters:
  ///   - batch: the invalidation of several partitions that this is a part of; nil for none.
  ///   - concerns: whether the invalidation concerns a key whose value has these tags. Called under locks.
  ///   - add: adds the invalidation to the pending ones, by its number.
  @inlinable
  func stageInvalidation(
    _ what: Invalidation, context: WriterContext?, in batch: BatchToken?, concerns: (Key, [String]) -> Bool,
    add: (inout PendingInvalidations<Key>, InvalidationVersion) -> Void
  ) -> StagedInvalidation<Key, Value> {
    var result = StagedInvalidation<Key, Value>()
    table.invalidate { pending in
      var number = pending.newest.next()
      if let partition = secondTier?.partition {
        let staged =
          if let batch { partition.stageInvalidation(what, in: batch) } else { partition.stageInvalidation(what) }
        number = max(number, staged.version)
        result.ticket = staged.ticket
      }
      add(&pending, number)
    } concerns: {
      concerns($0, $1)
    } commit: {
      if !edits.isEmpty { result.edited = edits.removeAll { concerns($0, $1.timing.tags) } }
      if observers.isObserved { observers.record(PendingChange(.invalidated(what)), context: context) }
      // The invalidation is not in force in the second tier, so that it must not return a record any more.
      guard let (loss, ticket) = writes.beginLossOfAll(in: batch) else { return nil }
      result.ticket = ticket
      result.loss = loss
      return loss
    }
    return result
  }

  /// Notifies observers of an invalidation, and releases values in the background. Call it outside all locks.
  @inlinable
  func finishInvalidation() {
    writes.deliverChanges()
    sweepInBackground()
  }

  /// Starts a task that releases invalidated values, unless one runs.
  @inlinable
  func sweepInBackground() {
    guard table.requestSweep() else { return }
    TaskStarter.start(on: loader.flightOptions.taskExecutor) { [table] in await table.sweep() }
  }
}

/// The results of an invalidation that must leave the critical sections first.
@usableFromInline
struct StagedInvalidation<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The ticket of the commit; nil without a second tier.
  @usableFromInline var ticket: CommitTicket?
  /// The edits that the invalidation ended.
  @usableFromInline var edited: [EditedKeys<Key, Value>.Edited] = []
  /// The loss of all records in place of the invalidation; nil for none.
  @usableFromInline var loss: LossOfAll<Key, Value>?

  @inlinable
  init() {}
}

// MARK: As a part of a store

extension Cache {
  package func stageRemoval(tagged tag: String, context: WriterContext?, in batch: BatchToken?) -> StagedRemoval {
    if widensInvalidations {
      let ticket = clearWidely(context: context)
      return StagedRemoval(partition: secondTier?.partition, ticket: ticket, ended: (), finish: {})
    }
    let staged = stageInvalidation(.tag(tag), context: context, in: batch) { _, tags in
      tags.contains(tag)
    } add: { pending, number in
      pending.add(tag: tag, number: number)
    }
    return StagedRemoval(
      partition: secondTier?.partition, ticket: staged.ticket, ended: (staged.edited, staged.loss),
      finish: { [self] in finishInvalidation() })
  }
}
