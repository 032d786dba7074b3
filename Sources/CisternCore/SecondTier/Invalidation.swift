import Synchronization

/// The records of a partition that an invalidation concerns.
public enum Invalidation: Sendable, Hashable {
  /// The records with the tag.
  case tag(String)
  /// The records whose key's bytes begin with the prefix.
  case prefix([UInt8])
}

extension Invalidation {
  /// Returns whether the invalidation concerns a record with this key and these tags.
  ///
  /// - Parameters:
  ///   - key: The bytes of the record's key.
  ///   - tags: The tags of the record.
  /// - Returns: Whether the record has the tag, or its key begins with the prefix.
  @inlinable
  public func concerns(key: [UInt8], tags: [String]) -> Bool {
    switch self {
    case .tag(let tag): tags.contains(tag)
    case .prefix(let prefix): key.starts(with: prefix)
    }
  }
}

/// Invalidation versions for tiers that have none. They begin with the time of day, so that they also rise over
/// restarts.
private let erasOfOtherTiers = Atomic<UInt64>(UInt64(max(1, SystemClock().wallTime().nanosecondsSince1970)))

extension SecondTierPartition {
  /// Stages the removal of every record of the partition.
  ///
  /// A tier without invalidations cannot tell which records the invalidation concerns.
  ///
  /// - Parameter invalidation: The invalidation. Ignored.
  /// - Returns: A new invalidation version, and the ticket of the removal.
  public func stageInvalidation(_ invalidation: Invalidation) -> (era: UInt64, ticket: CommitTicket) {
    let ticket = stageRemovalOfAll()
    return (erasOfOtherTiers.add(1, ordering: .sequentiallyConsistent).newValue, ticket)
  }

  /// An invalidation version that rises with every invalidation in this process.
  public var currentEra: UInt64 { erasOfOtherTiers.load(ordering: .sequentiallyConsistent) }
}
