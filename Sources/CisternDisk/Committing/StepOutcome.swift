import CisternCore

/// The changes of one write transaction, to apply to the state in memory after the commit.
struct StepOutcome {
  /// Whether the transaction changes the file. Without changes, LMDB does not use up the transaction's number.
  var hasChanges = false
  /// The approximate number of pages that the transaction copies, without those for records.
  var touchedPages = 0
  var storesByPartition: [ObjectIdentifier: Int] = [:]
  var removalsByPartition: [ObjectIdentifier: Int] = [:]
  /// The live records that were evicted to make room.
  var evicted: [EvictedRecord] = []
  /// The invalidations that were written, with their versions in file order, and the resulting row of versions.
  var invalidations:
    [(partition: Partition, written: [Invalidation: FileInvalidationVersion], row: InvalidationVersionRow)] = []
  /// The partitions that were changed although this process has not opened them, and whether all their records were
  /// removed.
  var unopened: [(partition: Partition, isCleared: Bool)] = []
  /// The formats that the file now names.
  var formats: [(partition: Partition, format: ValueFormat)] = []
  /// Whether generations may have become dead, so that the file must be searched for them.
  var hasDeadGenerations = false
  /// The generation of each partition that the step has looked up, or zero if the partition has none.
  var generations: [ObjectIdentifier: Generation] = [:]
  /// The counts of each generation that the step has read. The value is nil for a dead generation.
  var counts: [Generation: GenerationCounts?] = [:]

  /// Counts a stored record of the partition.
  mutating func countStore(of partition: Partition) {
    hasChanges = true
    storesByPartition[ObjectIdentifier(partition), default: 0] += 1
  }

  /// Counts a removed record of the partition.
  mutating func countRemoval(of partition: Partition) {
    hasChanges = true
    removalsByPartition[ObjectIdentifier(partition), default: 0] += 1
  }

  /// Returns the approximate number of bytes that a record occupies in the file.
  static func footprint(size: Int, key: Int) -> Int {
    let pages = DiskLimits.overflowPages(size)
    return (pages > 0 ? pages * DiskLimits.pageSize : size) + 2 * key + 48
  }
}
