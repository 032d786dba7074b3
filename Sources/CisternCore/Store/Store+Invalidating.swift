// Removing by tag from all caches of a store.

extension Store {
  /// Removes all values with a tag from all caches of the directory, as ``Cache/removeAll(tagged:context:)`` does for
  /// one.
  ///
  /// ```swift
  /// store.removeAll(tagged: "author:7")
  /// ```
  ///
  /// After the return, no look-up or load of any cache finds a removed value. This includes caches that are opened
  /// later, values on disk of caches that are not open, and caches with ``CacheTiers/memoryOnly``. No fetch in progress
  /// stores a value with the tag. Observers of each open cache receive one ``Change/Event/invalidated(_:)``.
  ///
  /// On disk, the removal is one commit for all caches. A crash within the store's commit interval can undo it, for all
  /// caches together; ``commitRemovalOfAll(tagged:context:)`` waits. In your own ``SecondTier``, only the open caches
  /// are concerned, and each has its own commit.
  ///
  /// The caches are locked one after the other. Another thread can find a value removed in one cache before it is
  /// removed in the next. An empty tag is no tag: no value has it. If the store is closed, its caches continue in
  /// memory only, and the values are removed there.
  ///
  /// - Parameters:
  ///   - tag: The tag.
  ///   - context: The writer, for ``Change/context``.
  /// - Complexity: O(*n*) for *n* caches, regardless of the number of values.
  public func removeAll(tagged tag: String, context: WriterContext? = nil) {
    guard !tag.isEmpty else { return }
    _ = shared.removeAll(tagged: tag, context: context)
  }

  /// Removes all values with a tag, like ``removeAll(tagged:context:)``, and returns when the removal is on disk.
  ///
  /// - Parameters:
  ///   - tag: The tag.
  ///   - context: The writer, for ``Change/context``.
  /// - Throws: `CisternError` if the disk fails, or if the store is closed. The values are removed from memory
  ///   nevertheless.
  public nonisolated(nonsending) func commitRemovalOfAll(
    tagged tag: String, context: WriterContext? = nil
  ) async throws(CisternError) {
    guard !tag.isEmpty else { return }
    let tickets = shared.removeAll(tagged: tag, context: context)
    // Another store of the directory may keep the disk open.
    var failure = isClosed ? CisternError.storeClosed("removing a tag") : nil
    for ticket in tickets {
      do throws(CisternError) {
        try await ticket.waitForCommit()
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}
