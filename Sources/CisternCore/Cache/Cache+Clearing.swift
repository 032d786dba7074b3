extension Cache {
  /// Removes every key from both tiers at once. No look-up sees some of them.
  ///
  /// Fetches in progress are not stored. Observers get one event, ``Change/Event/cleared``. A task releases the values
  /// of memory, if they are many. Records on disk are unreachable at once, and are purged in the background. A crash
  /// within the store's commit interval can bring the values back; ``commitRemovalOfAll(context:)`` waits.
  ///
  /// - Parameter context: The writer, for ``Change/context``.
  /// - Complexity: O(1), regardless of the number of values.
  @inlinable
  public func removeAll(context: WriterContext? = nil) {
    _ = clear(context: context)
  }

  /// Removes every key, like ``removeAll(context:)``, and returns when the removal is on disk. No crash brings a value
  /// back.
  ///
  /// - Parameter context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk fails.
  /// - Complexity: As ``removeAll(context:)``.
  public nonisolated(nonsending) func commitRemovalOfAll(
    context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.prepareToCommit()
    if let ticket = clear(context: context) { try await secondTier?.partition.waitForCommit(ticket) }
  }

  /// Evicts from memory until no more than this total cost is left. Records on disk stay.
  ///
  /// Values that are added during the call can stay.
  ///
  /// - Parameter target: The total cost to keep.
  /// - Complexity: O(*n*) for *n* evicted entries.
  public func trim(toCost target: Int) {
    table.trim(toCost: target)
  }

  /// Removes every key in one critical section of all shards.
  ///
  /// - Parameters:
  ///   - context: The writer, for ``Change/context``.
  ///   - isWidened: Whether the clear replaces a removal by tag or prefix.
  /// - Returns: The ticket of the removal in the second tier; nil without one.
  @inlinable
  func clear(context: WriterContext?, isWidened: Bool = false) -> CommitTicket? {
    // Released outside the locks.
    var edited: [Key: EditedKeys<Key, Value>.Edited]?
    defer { withExtendedLifetime(edited) {} }
    var ticket: CommitTicket?
    table.clear(isWidened: isWidened) {
      TaskStarter.start(on: loader.flightOptions.taskExecutor, $0)
    } whileLocked: {
      if !edits.isEmpty { edited = edits.removeAll() }
      ticket = secondTier?.partition.stageRemovalOfAll()
      if observers.isObserved { observers.record(PendingChange(.cleared, isWidened: isWidened), context: context) }
    }
    writes.deliverChanges()
    return ticket
  }
}
