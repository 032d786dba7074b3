extension Cache {
  /// Removes every key from both tiers at once: no look-up sees some of them. Fetches that are under way are not
  /// stored. Observers get one event, ``Change/Event/cleared``.
  ///
  /// O(1). A task releases the values of memory, if they are many. Records on disk are unreachable at once and are purged in the
  /// background. A crash within the store's commit interval may bring the values back; ``commitRemovalOfAll(context:)`` waits.
  ///
  /// - Parameter context: the writer, for ``Change/context``.
  @inlinable
  public func removeAll(context: WriterContext? = nil) {
    _ = clear(context: context)
  }

  /// Removes every key, as ``removeAll(context:)`` does, and returns when that is on disk: no crash brings a value back.
  ///
  /// Throws `CisternError` if the disk fails.
  ///
  /// - Parameter context: the writer, for ``Change/context``.
  public nonisolated(nonsending) func commitRemovalOfAll(
    context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.prepareToCommit()
    if let ticket = clear(context: context) { try await secondTier?.partition.waitForCommit(ticket) }
  }

  /// Removes every key in one critical section of all shards. Returns the ticket of the removal in the second tier.
  ///
  /// - Parameter isWidened: whether it replaces a removal by tag or prefix.
  @inlinable
  func clear(context: WriterContext?, isWidened: Bool = false) -> CommitTicket? {
    // Released outside the locks.
    var edited: [Key: EditedKeys<Key, Value>.Edited]?
    defer { withExtendedLifetime(edited) {} }
    var ticket: CommitTicket?
    table.clear {
      TaskStarter.start(on: loader.flightOptions.taskExecutor, $0)
    } commit: {
      if !edits.isEmpty { edited = edits.removeAll() }
      ticket = secondTier?.partition.stageRemovalOfAll()
      if observers.isObserved { observers.record(PendingChange(.cleared, isWidened: isWidened), context: context) }
    }
    writes.deliverChanges()
    return ticket
  }
}
