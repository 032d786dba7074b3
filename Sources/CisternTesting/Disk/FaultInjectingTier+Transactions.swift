import CisternCore

extension FaultInjectingTier: TransactionalTier {
  package func beginInvalidating() -> BatchToken {
    BatchToken(number: state.withLock { $0.contents.beginBatch() })
  }

  package func stageInvalidation(_ invalidation: Invalidation, exceptIn names: Set<String>, in batch: BatchToken) {
    for name in state.withLock({ $0.contents.partitions.keys.sorted() }) where !names.contains(name) {
      _ = FaultInjectingPartition(tier: self, name: name).stageInvalidation(invalidation, in: batch)
    }
  }

  package func endInvalidating(_ batch: BatchToken) -> CommitTicket { endBatch(batch) }

  package func beginBatch() -> BatchToken { beginInvalidating() }

  package func endBatch(_ batch: BatchToken) -> CommitTicket {
    // The end of a batch concerns no partition.
    FaultInjectingPartition(tier: self, name: "").endBatch(batch)
  }
}
