import Synchronization

/// An open batch of writes. See ``SecondTierPartition/beginBatch()``.
public final class BatchToken: Sendable {
  /// The number of the batch. Only the tier that created the token interprets it.
  public let number: UInt64
  private let newest = Atomic<UInt64>(0)

  /// Creates a token. A tier calls this initializer when a caller begins a batch.
  ///
  /// - Parameter number: The number of the batch.
  public init(number: UInt64) {
    self.number = number
  }

  /// Records that a write belongs to the batch.
  ///
  /// - Parameter ticket: The ticket of the write.
  public func note(_ ticket: CommitTicket) {
    newest.max(ticket.number, ordering: .relaxed)
  }

  /// The newest ticket of the batch's writes. Its number is zero if the batch has no writes.
  public var newestTicket: CommitTicket { CommitTicket(number: newest.load(ordering: .relaxed)) }
}

extension SecondTierPartition {
  /// Returns true, because a tier without batches takes the writes one by one.
  ///
  /// - Parameters:
  ///   - batchBytes: The number of bytes of keys, values and tags. Ignored.
  ///   - count: The number of writes. Ignored.
  /// - Returns: True.
  public func canHold(batchBytes: Int, count: Int) -> Bool { true }

  /// Returns a token without a batch. Its writes are committed like any other writes.
  ///
  /// - Returns: A token with the number zero.
  public func beginBatch() -> BatchToken { BatchToken(number: 0) }

  /// Stages the write like a write outside a batch, and records its ticket in the token.
  ///
  /// - Parameters:
  ///   - write: The write to stage.
  ///   - batch: The token of the batch.
  /// - Returns: The result of ``stage(_:)``.
  public func stage(_ write: StagedWrite, in batch: BatchToken) -> StagingResult {
    let result = stage(write)
    if case .staged(let ticket) = result { batch.note(ticket) }
    return result
  }

  /// Returns the newest ticket of the batch's writes.
  ///
  /// - Parameter batch: The token of the batch.
  /// - Returns: The newest ticket. Its number is zero if the batch has no writes.
  @discardableResult
  public func endBatch(_ batch: BatchToken) -> CommitTicket { batch.newestTicket }
}
