import CisternCore

/// The staged changes of one partition in a commit group.
struct PartitionChanges: Sendable {
  let partition: Partition
  /// The clear count at the hand-over. Writes with another clear count are void.
  let clearCount: ClearCount
  /// Whether the commit must first remove all records of the partition.
  let clears: Bool
  /// The invalidations to write, with the partition's newest version; nil if none were staged.
  var invalidated: (invalidations: [Invalidation: InvalidationVersion], invalidationVersion: InvalidationVersion)?
  let writes: [StagedWrites]
  let links: BatchLinks
}
