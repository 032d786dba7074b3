import CisternCore

// Losses of all records.

extension StagingArea {
  /// Runs `body` if no write of the key with this clear count is staged or being committed. None can be staged while it
  /// runs.
  func unlessStaged(_ key: [UInt8], clearCount: ClearCount, _ body: () -> Void) {
    let hash = StagedWrites.hash(key.rawSpan)
    shard(of: hash).state.withLock { shard in
      let entries = [shard.fresh.entry(forKey: key.rawSpan, hash: hash), shard.committing(key.rawSpan, hash: hash)]
      if entries.allSatisfy({ $0?.clearCount != clearCount }) { body() }
    }
  }

  /// The tickets and batches of the records that a clear would make void before the writer thread takes them.
  var freshRecords: [(tickets: [ClosedRange<CommitTicket>], batch: BatchNumber?)] {
    shards.flatMap { shard in
      shard.state.withLock { shard in
        shard.fresh.compactMap { entry -> (tickets: [ClosedRange<CommitTicket>], batch: BatchNumber?)? in
          guard case .record = entry.write, entry.clearCount == shard.clearCount, !entry.isRewrite else { return nil }
          return (entry.tickets, entry.batch)
        }
      }
    }
  }
}
