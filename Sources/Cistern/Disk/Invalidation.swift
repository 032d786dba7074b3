import Synchronization

/// Which records of a partition an invalidation concerns.
public enum Invalidation: Sendable, Hashable {
  /// Those with the tag.
  case tag(String)
  /// Those whose key's bytes begin with these.
  case prefix([UInt8])
}

extension Invalidation {
  /// Whether it concerns a record with this key and these tags.
  @inlinable
  public func concerns(key: [UInt8], tags: [String]) -> Bool {
    switch self {
    case .tag(let tag): tags.contains(tag)
    case .prefix(let prefix): key.starts(with: prefix)
    }
  }
}

/// Numbers for tiers that keep none: from the time of day, so that they rise over restarts too.
private let erasOfOtherTiers = Atomic<UInt64>(UInt64(max(1, SystemClock().wallTime().nanosecondsSince1970)))

extension SecondTierPartition {
  /// Removes every record of the partition: a tier that does not know of invalidations cannot tell which they are.
  public func stageInvalidation(_ invalidation: Invalidation) -> (era: UInt64, ticket: CommitTicket) {
    let ticket = stageRemovalOfAll()
    return (erasOfOtherTiers.add(1, ordering: .sequentiallyConsistent).newValue, ticket)
  }

  /// A number that rises with every invalidation in this process.
  public var currentEra: UInt64 { erasOfOtherTiers.load(ordering: .sequentiallyConsistent) }
}
