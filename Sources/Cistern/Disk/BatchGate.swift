/// Keeps the writer thread from taking half a batch: it takes nothing while one is open, and none is opened while it
/// takes. Both last for an instant. Guarded by a monitor.
struct BatchGate: Sendable {
  private var openCount = 0
  private var isTaking = false

  /// Opens a batch; nil where that has to wait.
  mutating func open() -> Void? {
    if isTaking { return nil }
    openCount += 1
    return ()
  }

  mutating func close() { openCount -= 1 }

  /// Begins to take what is staged; nil while a batch is open, but no other will be.
  mutating func beginTaking() -> Void? {
    isTaking = true
    return openCount == 0 ? () : nil
  }

  mutating func endTaking() { isTaking = false }
}

extension DiskEngine {
  /// Begins a batch. Of number zero where the disk is not to be written to: that holds for the whole batch, however the
  /// disk fares meanwhile.
  func beginBatch() -> BatchToken {
    if isInherited || mode != .active { return BatchToken(number: 0) }
    batchGate.wait { $0.open() }
    return BatchToken(number: batchNumbers.add(1, ordering: .relaxed).newValue)
  }

  func endBatch(_ batch: BatchToken) -> CommitTicket {
    if batch.number != 0 { batchGate.change { $0.close() } }
    let newest = batch.newestTicket
    // Of an empty one: whatever was staged before it.
    return newest.number > 0 || mode == .closed ? newest : CommitTicket(number: nextNumber())
  }

  /// Takes what is staged, all batches of it whole.
  func withoutOpenBatches<Result>(_ body: () -> Result) -> Result {
    batchGate.wait { $0.beginTaking() }
    defer { batchGate.change { $0.endTaking() } }
    return body()
  }
}
