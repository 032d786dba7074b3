/// The reason why a second tier can never hold a write.
@usableFromInline
package enum WriteExcess: Sendable {
  /// The write is larger than the limit of the tier permits.
  case size
  /// The value has more tags than a record can have, under any limit of the tier.
  case tags
  /// A custom tier refused the write, and gave no reason. Nothing but its size prevents an active one from taking it.
  case unstated
}

extension WriteExcess {
  /// The problem, as errors and reports of a write alone name it.
  var problem: String {
    switch self {
    case .size: "the write is larger than the second tier can ever hold"
    case .tags: "the value has more tags than the second tier can hold"
    case .unstated: "the second tier works, but refuses the write"
    }
  }

  /// The remedy, also for a write of a batch.
  var remedy: String? {
    switch self {
    case .size: CisternError.Code.tooLarge.advice
    case .tags: "Give the value fewer tags"
    case .unstated: "Store a smaller value, or raise the limit of the tier"
    }
  }
}

extension TransactionalPartition {
  /// Returns the reason why the tier can never hold a write.
  ///
  /// - Parameter write: The new record, or the removal.
  /// - Returns: The reason; nil if the tier can hold the write.
  package func excess(of write: StagedWrite) -> WriteExcess? {
    if canHold(write) { return nil }
    return canHold(batchBytes: write.stagedSize, count: 1) ? .tags : .size
  }

  package func excess(ofRefused write: StagedWrite) -> WriteExcess? { excess(of: write) }
}
