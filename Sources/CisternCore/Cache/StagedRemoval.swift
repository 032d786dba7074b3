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
