import CisternCore
import Locking

// The writer thread takes the writes, and releases them after their commit.

extension StagingArea {
  /// Hands over the writes since the last hand-over. They stay readable until `finishCommitting`.
  ///
  /// The caller must ensure that no batch is open.
  ///
  /// - Parameter body: Called while no write can be staged. The result belongs to the writes: it contains the changes
  ///   that precede any of them.
  /// - Returns: The writes, the joined batches, and the result of `body`.
  func beginCommitting<Result: Sendable>(
    beside body: () -> Result
  ) -> (writes: [StagedWrites], links: BatchLinks, result: Result) {
    let (taken, _, result) = takeWrites(fromShard: 0, beside: body)
    let links = links.withLock { links in
      defer { links = BatchLinks() }
      return links
    }
    return (taken.reversed(), links, result)
  }

  /// Takes the writes of this shard and the following ones, with the locks of all of them held. Lock order: the order
  /// of shards.
  ///
  /// The caller frees the void writes after the locks are released.
  private func takeWrites<Result: Sendable>(
    fromShard place: Int, beside body: () -> Result
  ) -> (taken: [StagedWrites], void: [StagedWrites], result: Result) {
    guard place < shards.count else { return ([], [], body()) }
    return shards[place].state.withLock { shard in
      var (taken, void, result) = takeWrites(fromShard: place + 1, beside: body)
      if !shard.void.isEmpty { void.append(shard.void) }
      shard.void = StagedWrites()
      if !shard.fresh.isEmpty {
        taken.append(shard.fresh)
        shard.committing = shard.fresh
        shard.isCommittingVoid = false
        shard.fresh = StagedWrites()
        shard.freshBytes = 0
      }
      return (taken, void, result)
    }
  }

  /// Releases the handed-over writes after their commit is visible, or after it failed.
  ///
  /// - Parameters:
  ///   - isUnwritten: Returns whether a write was not committed.
  ///   - replacing: Called with each such write that has no newer write of its key. Returns the write to stage instead,
  ///     or nil for none.
  func finishCommitting(
    isUnwritten: (StagedEntry) -> Bool = { _ in false }, replacing: (StagedEntry) -> StagedEntry? = { _ in nil }
  ) {
    for shard in shards {
      let (done, kept) = shard.state.withLock { shard in
        let done = shard.committing
        shard.committing = StagedWrites()
        var kept = 0
        let isVoid = shard.isCommittingVoid
        for entry in done where !isVoid && entry.clearCount == shard.clearCount && isUnwritten(entry) {
          // A newer write of the key makes a replacement unnecessary.
          if shard.fresh.takeCondition(of: entry) { continue }
          if let replacement = replacing(entry), shard.fresh.insert(replacement) {
            kept += 1
            shard.freshBytes += replacement.size
          }
        }
        return (done, kept)
      }
      if done.count > kept { count.subtract(done.count - kept, ordering: .releasing) }
    }
  }
}
