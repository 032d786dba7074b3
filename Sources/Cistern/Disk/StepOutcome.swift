/// What one write transaction did, for when it is committed.
struct StepOutcome {
  /// Whether the transaction changes anything: else its number is not used up.
  var hasChanges = false
  /// About how many pages it copies.
  var touchedPages = 0
  var storesByPartition: [ObjectIdentifier: Int] = [:]
  var removalsByPartition: [ObjectIdentifier: Int] = [:]
  /// Records of live generations that made room, by generation and key.
  var evicted: [EvictedRecord] = []
  /// Records that were found damaged and removed for it.
  var damaged: [(partition: Partition, key: [UInt8])] = []
  /// Invalidations that were written, and the row of numbers that goes with them.
  var invalidations: [(partition: Partition, written: [Invalidation: UInt64], row: EraRow)] = []
  /// The formats that the file names now.
  var formats: [(partition: Partition, format: ValueFormat)] = []
  /// Whether there are generations to purge.
  var hasDeadGenerations = false

  mutating func stored(_ partition: Partition) {
    hasChanges = true
    storesByPartition[ObjectIdentifier(partition), default: 0] += 1
  }

  mutating func removed(_ partition: Partition) {
    hasChanges = true
    removalsByPartition[ObjectIdentifier(partition), default: 0] += 1
  }

  /// The pages of its own that a record of this size has; a small one lies in a page with others.
  static func overflowPages(_ size: Int) -> Int {
    size > 1900 ? (size + 16 + DiskLimits.pageSize - 1) / DiskLimits.pageSize : 0
  }

  /// About how many bytes of the file the record takes up.
  static func footprint(size: Int, key: Int) -> Int {
    let pages = overflowPages(size)
    return (pages > 0 ? pages * DiskLimits.pageSize : size) + 2 * key + 48
  }
}

/// A record that made room for others.
struct EvictedRecord: Sendable {
  let generation: UInt64
  let key: [UInt8]
  let tags: [String]
}

/// What became of the oldest record.
enum Eviction {
  /// It is gone; about so many bytes of the file are free.
  case dropped(bytes: Int)
  /// It was used, and has a second turn.
  case spared
}
