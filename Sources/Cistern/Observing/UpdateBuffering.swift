/// What a sequence of changes keeps for a consumer that is slower than the changes are.
public enum UpdateBuffering: Sendable, Hashable {
  /// The newest change of each key, in the place of the oldest one that was not consumed. The consumer may miss changes
  /// in between, never the last one. ``Change/Event/cleared`` replaces them all. Holds at most one change for each key, and one for
  /// each tag or prefix that was invalidated: ``Change/Event/invalidated(_:)``. What a key changes to after such a one comes
  /// after it.
  case newestPerKey
  /// So many of the newest changes, at least one. The oldest is dropped when another comes.
  case bounded(Int)

  var policy: ChangeBuffer.Policy {
    switch self {
    case .newestPerKey: .newestPerKey
    case .bounded(let limit): .bounded(limit)
    }
  }
}
