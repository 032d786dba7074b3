import CisternCore

/// A change for the partitions that this process had not opened when a commit group was taken.
struct UnopenedChange {
  let change: UnopenedInvalidations.Change
  /// The names of the partitions that were open. Each has staged the change itself.
  let openNames: Set<String>
  /// The maximum size of the invalidations in bytes, each counted once for every partition.
  let largestSize: Int

  /// Returns whether all records of the partitions are removed, because the invalidations would take too much room.
  func removesAll(ofPartitions count: Int) -> Bool {
    change.removesAll || change.size > largestSize / max(1, count)
  }
}
