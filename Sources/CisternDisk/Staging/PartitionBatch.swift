import CisternCore

/// The changes that the writer thread took from one partition.
struct PartitionBatch: Sendable {
  let partition: Partition
  /// The clear count at the hand-over. Writes with another clear count are void.
  let clearCount: ClearCount
  /// Whether the commit must first remove all records of the partition.
  let removesAll: Bool
  /// The invalidations to write, with the partition's newest version; nil if none were staged.
  var invalidated: (invalidations: [Invalidation: InvalidationVersion], invalidationVersion: InvalidationVersion)?
  let writes: [StagedWrites]
  let links: BatchLinks
}
