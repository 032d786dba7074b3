import CisternCore

extension DiskEngine {
  /// Begins a batch of an owner.
  ///
  /// The batch does not include the disk if the owner is closed or the engine is not active now. All its writes have
  /// the same fate, even if the mode changes.
  func beginBatch(for owner: DiskOwner) -> BatchToken {
    if owner.isClosed || isInherited || mode != .active { return .withoutDisk }
    let batch = openBatch()
    // An open batch of an open owner precedes the last commit of the engine. The owner may have closed before the gate
    // opened, and then the writer thread may take no more writes.
    if !owner.isClosed { return batch }
    batchGate.change { $0.close() }
    return .withoutDisk
  }

  /// Begins a batch regardless of the mode.
  func openBatch() -> BatchToken {
    batchGate.wait { $0.open() }
    return BatchToken(number: BatchNumber(number: batchNumber.add(1, ordering: .relaxed).newValue))
  }

  /// Ends a batch of writes and returns the ticket of its commit.
  func endBatch(_ batch: BatchToken) -> CommitTicket {
    let newest = batch.newestTicket
    // Noted while the batch is open, so that the writer thread takes the ticket together with the writes.
    if batch.includesDisk, newest > .zero { batchTickets.withLock { $0[batch.number] = newest } }
    return closeBatch(batch)
  }

  /// Ends a batch without its ticket for the commit group: that of invalidations, which no later write replaces.
  func closeBatch(_ batch: BatchToken) -> CommitTicket {
    if batch.includesDisk { batchGate.change { $0.close() } }
    let newest = batch.newestTicket
    // An empty batch gets a new ticket, which follows every write staged before it.
    return newest > .zero || mode == .closed ? newest : nextTicket()
  }

  /// Runs `body`, which takes staged writes, while no batch is open. Every batch is therefore taken whole.
  func withoutOpenBatches<Result>(_ body: () -> Result) -> Result {
    batchGate.wait { $0.beginTaking() }
    defer { batchGate.change { $0.endTaking() } }
    return body()
  }
}

extension BatchToken {
  /// A batch that began while the tier was closed, or while the disk took no writes. None of its writes is on disk.
  static var withoutDisk: BatchToken { BatchToken(number: .zero) }

  /// Whether the writes of the batch are committed to the file.
  var includesDisk: Bool { number != .zero }
}
