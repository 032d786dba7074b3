import Synchronization

// Removing many keys at once. A removal by tag or prefix visits no entry: it numbers the invalidation. Older values
// that it concerns count as gone in both tiers from then on, and are released in the background.

extension Cache {
  /// Removes all values with a tag, from both tiers at once.
  ///
  /// A fetch in progress whose value has the tag is not stored. A task releases the values of memory. Records on disk
  /// are purged in the background, in small transactions. A crash within the store's commit interval can bring the
  /// values back; ``commitRemovalOfAll(tagged:context:)`` waits. Observers get one event,
  /// ``Change/Event/invalidated(_:)``, and none for each key. An empty tag is no tag: no value has it.
  ///
  /// - Parameters:
  ///   - tag: The tag.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(1), regardless of the number of values.
  @inlinable
  public func removeAll(tagged tag: String, context: WriterContext? = nil) {
    guard !tag.isEmpty else { return }
    _ = invalidate(tag: tag, context: context)
  }

  /// Removes all values with a tag, like ``removeAll(tagged:context:)``, and returns when the removal is on disk. No
  /// crash brings a value back.
  ///
  /// - Parameters:
  ///   - tag: The tag.
  ///   - context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk fails.
  /// - Complexity: O(1), and the wait for the commit.
  public nonisolated(nonsending) func commitRemovalOfAll(
    tagged tag: String, context: WriterContext? = nil
  ) async throws(CisternError) {
    guard !tag.isEmpty else { return }
    if let ticket = invalidate(tag: tag, context: context) { try await secondTier?.partition.waitForCommit(ticket) }
  }
}

// MARK: One invalidation, from top to bottom

extension Cache {
  @inlinable
  func invalidate(tag: String, context: WriterContext?) -> CommitTicket? {
    invalidate(.tag(tag), context: context) { _, tags in
      tags.contains(tag)
    } add: { pending, version in
      pending.add(tag: tag, at: version)
    }
  }

  /// Invalidates in both tiers, and notifies observers.
  @inlinable
  func invalidate(
    _ invalidation: Invalidation, context: WriterContext?, concerns: (Key, [String]) -> Bool,
    add: (inout PendingInvalidations<Key>, InvalidationVersion) -> Void
  ) -> CommitTicket? {
    if widensInvalidations { return clearWidely(context: context) }
    let staged = stageInvalidation(invalidation, context: context, in: nil, concerns: concerns, add: add)
    // Its edits are released outside the locks.
    defer { withExtendedLifetime(staged) {} }
    finishInvalidation()
    return staged.ticket
  }

  /// Whether the second tier removes all records instead of those that an invalidation concerns.
  ///
  /// Memory then does the same, so that the tiers, observers and counts agree.
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

  /// Invalidates in the second tier and in all shards at once. No writer finds the invalidation in one of them only.
  ///
  /// The function runs no user code except a key's.
  ///
  /// - Parameters:
  ///   - invalidation: The invalidation.
  ///   - context: The writer, for ``Change/context``.
  ///   - batch: The invalidation of several partitions that this is a part of; nil for none.
  ///   - concerns: Returns whether the invalidation concerns a key whose value has these tags. Called under locks.
  ///   - add: Adds the invalidation to the pending ones, with its version.
  /// - Returns: The results that the caller releases or reports outside the locks.
  @inlinable
  func stageInvalidation(
    _ invalidation: Invalidation, context: WriterContext?, in batch: BatchToken?, concerns: (Key, [String]) -> Bool,
    add: (inout PendingInvalidations<Key>, InvalidationVersion) -> Void
  ) -> StagedInvalidation<Key, Value> {
    var result = StagedInvalidation<Key, Value>()
    table.invalidate { pending in
      var version = pending.newest.next()
      if let partition = secondTier?.partition {
        let staged =
          if let batch { partition.stageInvalidation(invalidation, in: batch) } else {
            partition.stageInvalidation(invalidation)
          }
        version = max(version, staged.version)
        result.ticket = staged.ticket
      }
      add(&pending, version)
    } concerns: {
      concerns($0, $1)
    } whileLocked: {
      if !edits.isEmpty { result.edited = edits.removeAll { concerns($0, $1.timing.tags) } }
      if observers.isObserved { observers.record(PendingChange(.invalidated(invalidation)), context: context) }
      var effects = InvalidationEffects<Key, Value>(endedEdits: result.edited.keys.map { table.hashed($0) })
      // If the second tier cannot stage the invalidation, it must hide all its records.
      if let (loss, ticket) = writes.beginLossOfAll(in: batch) {
        result.ticket = ticket
        result.loss = loss
        effects.loss = loss
      }
      return effects
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
  @usableFromInline var edited: [Key: EditedKeys<Key, Value>.Edited] = [:]
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
    } add: { pending, version in
      pending.add(tag: tag, at: version)
    }
    return StagedRemoval(
      partition: secondTier?.partition, ticket: staged.ticket, ended: (staged.edited, staged.loss),
      finish: { [self] in finishInvalidation() })
  }
}
