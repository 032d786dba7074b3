import CisternCore

// A close must not divide an invalidation or a batch. Only its beginning therefore asks whether the tier is closed.

extension DiskTier: TransactionalTier {
  package func beginInvalidating() -> BatchToken {
    isClosed ? .withoutDisk : engine.beginInvalidating()
  }

  package func stageInvalidation(_ invalidation: Invalidation, exceptIn names: Set<String>, in batch: BatchToken) {
    if batch.includesDisk { engine.stageInvalidation(invalidation, exceptIn: names, in: batch) }
  }

  package func endInvalidating(_ batch: BatchToken) -> CommitTicket {
    batch.includesDisk ? engine.closeBatch(batch) : .zero
  }

  package func beginBatch() -> BatchToken { engine.beginBatch(for: owner) }

  package func endBatch(_ batch: BatchToken) -> CommitTicket { engine.endBatch(batch) }

  package func waitForCommit(_ ticket: CommitTicket) async throws(CisternError) {
    try await engine.waitForCommit(ticket, includingEarlier: false)
  }
}

extension DiskPartition {
  package func stageInvalidation(
    _ invalidation: Invalidation, in batch: BatchToken
  ) -> (version: InvalidationVersion, ticket: CommitTicket) {
    if !batch.includesDisk { return (partition.invalidations.invalidationVersion.next(), .zero) }
    let staged = engine.stageInvalidation(invalidation, of: partition, hasCache: true)
    batch.note(staged.ticket)
    return staged
  }
}
