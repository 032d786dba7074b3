import Synchronization

/// An open batch of writes. See ``TransactionalPartition/beginBatch()``.
@usableFromInline
package final class BatchToken: Sendable {
  /// The number of the batch. Only the tier that created the token interprets it.
  package let number: BatchNumber
  private let newest = Atomic<UInt64>(0)

  /// Creates a token. A tier calls this initializer when a caller begins a batch.
  ///
  /// - Parameter number: The number of the batch.
  package init(number: BatchNumber) {
    self.number = number
  }

  /// Records that a write belongs to the batch.
  ///
  /// - Parameter ticket: The ticket of the write.
  package func note(_ ticket: CommitTicket) {
    newest.max(ticket.number, ordering: .relaxed)
  }

  /// The newest ticket of the batch's writes. Its number is zero if the batch has no writes.
  package var newestTicket: CommitTicket { CommitTicket(number: newest.load(ordering: .relaxed)) }
}
