/// The changes that a sequence keeps for a consumer that is slower than the writers.
public enum UpdateBuffering: Sendable, Hashable {
  /// The newest change of each key.
  ///
  /// A change of a key replaces the key's older change that was not consumed yet, at the position of the older one.
  /// The consumer may miss intermediate changes, but never the last one. ``Change/Event/cleared`` replaces all
  /// changes.
  ///
  /// The buffer also keeps one ``Change/Event/invalidated(_:)`` for each tag and prefix. Later changes of a key
  /// never precede it. The buffer contains at most one change for each key, tag and prefix.
  case newestPerKey
  /// The given number of newest changes, at least one. An additional change replaces the oldest.
  case bounded(Int)

  /// The policy of a buffer that must not lose a change without notice.
  var contentPolicy: ChangeBuffer.Policy {
    switch self {
    case .newestPerKey: .newestPerKey
    case .bounded(let limit): .boundedByLoss(limit)
    }
  }

  var policy: ChangeBuffer.Policy {
    switch self {
    case .newestPerKey: .newestPerKey
    case .bounded(let limit): .bounded(limit)
    }
  }
}
