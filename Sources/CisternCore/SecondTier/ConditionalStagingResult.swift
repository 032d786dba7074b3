/// The result of staging a write under a condition. See ``TransactionalPartition/stage(_:if:)``.
@usableFromInline
package enum ConditionalStagingResult: Sendable {
  /// The write is staged. The tier compares the record again at the commit.
  case staged(CommitTicket)
  /// The condition does not hold, so the key's record stays. The write needs no commit.
  case dropped
  /// The tier does not take the write, as ``StagingResult/refused`` says.
  case refused

  /// Converts the result of staging a write without a condition.
  @inlinable
  package init(_ result: StagingResult) {
    switch result {
    case .staged(let ticket): self = .staged(ticket)
    case .refused: self = .refused
    }
  }
}
