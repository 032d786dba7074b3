/// A second tier that can change several of its partitions with one commit.
///
/// The tier on disk implements it. In a custom tier, each partition has its own commits.
package protocol TransactionalTier: SecondTier {
  /// Begins an invalidation of several partitions, which becomes one commit. After a crash, all partitions have it, or
  /// none has it.
  ///
  /// The rules of ``TransactionalPartition/beginBatch()`` apply. The result is a batch in every mode of the tier.
  func beginInvalidating() -> BatchToken

  /// Stages an invalidation in every partition of the tier, except those with these names.
  ///
  /// Includes partitions that are not open, and those that are opened before the commit.
  ///
  /// - Parameters:
  ///   - invalidation: The tag or the prefix.
  ///   - names: The names of the partitions that the caller invalidates itself.
  ///   - batch: The open batch.
  func stageInvalidation(_ invalidation: Invalidation, exceptIn names: Set<String>, in batch: BatchToken)

  /// Ends the invalidation.
  ///
  /// - Parameter batch: The open batch.
  /// - Returns: The ticket of the commit.
  func endInvalidating(_ batch: BatchToken) -> CommitTicket

  /// Begins a batch of writes in several partitions, as ``TransactionalPartition/beginBatch()`` does for one.
  ///
  /// The token is valid in all partitions of the tier.
  func beginBatch() -> BatchToken

  /// Ends the batch.
  ///
  /// - Parameter batch: The open batch.
  /// - Returns: The ticket of the batch's commit.
  func endBatch(_ batch: BatchToken) -> CommitTicket

  /// Suspends until the write of the ticket is committed.
  ///
  /// - Parameter ticket: The ticket of a write in any partition.
  /// - Throws: `CisternError` if the tier could not commit the write, or is closed.
  func waitForCommit(_ ticket: CommitTicket) async throws(CisternError)
}
