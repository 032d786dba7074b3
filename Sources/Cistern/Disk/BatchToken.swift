import Synchronization

/// A batch of writes that is open: see ``SecondTierPartition/beginBatch()``.
public final class BatchToken: Sendable {
  /// The batch's number, whatever the tier means by it.
  public let number: UInt64
  private let newest = Atomic<UInt64>(0)

  /// Creates a token; a tier does, for those who begin a batch.
  public init(number: UInt64) {
    self.number = number
  }

  /// Notes that a write of this ticket is a part of the batch.
  public func note(_ ticket: CommitTicket) {
    newest.max(ticket.number, ordering: .relaxed)
  }

  /// The newest ticket of the batch's writes; of number zero where there are none.
  public var newestTicket: CommitTicket { CommitTicket(number: newest.load(ordering: .relaxed)) }
}

extension SecondTierPartition {
  /// True: a tier that does not know of batches takes their writes one by one.
  public func canHold(batchBytes: Int, count: Int) -> Bool { true }

  /// Begins a batch that is none: its writes are committed as any others are.
  public func beginBatch() -> BatchToken { BatchToken(number: 0) }

  /// Stages the write as any other.
  public func stage(_ write: StagedWrite, in batch: BatchToken) -> StagingResult {
    let result = stage(write)
    if case .staged(let ticket) = result { batch.note(ticket) }
    return result
  }

  /// The ticket of the newest of the batch's writes.
  @discardableResult
  public func endBatch(_ batch: BatchToken) -> CommitTicket { batch.newestTicket }
}
