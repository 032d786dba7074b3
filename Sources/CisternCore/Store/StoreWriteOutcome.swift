/// The commits of a batch over several caches.
enum StoreWriteOutcome {
  /// Nothing was staged.
  case nothing
  /// One commit has the whole batch.
  case tier(any TransactionalTier, CommitTicket)
  /// Each cache has its own commit.
  case partitions([(any TransactionalPartition, CommitTicket)])
  /// The second tier refused a write.
  case refused(CisternError)

  nonisolated(nonsending) func waitForCommit() async throws(CisternError) {
    switch self {
    case .nothing: break
    case .tier(let tier, let ticket): try await tier.waitForCommit(ticket)
    case .partitions(let tickets): for (partition, ticket) in tickets { try await partition.waitForCommit(ticket) }
    case .refused(let error): throw error
    }
  }
}
