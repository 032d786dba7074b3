/// A cache from its store's point of view.
package protocol StoreMember: AnyObject, Sendable {
  /// The counts and the contents of the cache.
  var statistics: CacheStatistics { get }
  /// Checks the whole cache. Returns the violated invariants; a sound cache has none.
  func checkInvariants() -> [String]
  /// Handles records that the cache's partition lost. The tier calls it outside all locks and transactions.
  func loseRecords(_ losses: [RecordLoss])
  /// Removes all values with a tag from memory, and stages their removal in the second tier. Runs no code of the user,
  /// except a key's.
  ///
  /// - Parameters:
  ///   - tag: The tag, which must not be empty.
  ///   - context: The writer, for ``Change/context``.
  ///   - batch: The removal from several partitions that this is a part of, or nil if each has its own commit.
  /// - Returns: The results that the caller finishes outside the locks.
  func stageRemoval(tagged tag: String, context: WriterContext?, in batch: BatchToken?) -> StagedRemoval
}

/// The removal from one cache of a store, which is complete in memory and staged in the second tier.
package struct StagedRemoval: Sendable {
  /// The cache's partition; nil if the cache has no second tier.
  let partition: (any TransactionalPartition)?
  /// The ticket of the commit; nil if the cache has no second tier.
  let ticket: CommitTicket?
  /// The edits that the removal ended. Their release is the user's code.
  let ended: any Sendable
  /// Notifies observers. Call it outside all locks and batches.
  let finish: @Sendable () -> Void
}
