import CisternCore

extension SecondTierStatistics {
  /// Adds the entries and the counters of a partition.
  mutating func add(_ partition: TierContents.Partition) {
    entryCount += partition.committed.count
    liveBytes += partition.committed.reduce(0) { $0 + $1.key.count + $1.value.bytes.count }
    hits += partition.statistics.hits
    misses += partition.statistics.misses
    stores += partition.statistics.stores
    removals += partition.statistics.removals
    commits += partition.statistics.commits
    evictions += partition.statistics.evictions
    refused += partition.statistics.refused
    failed += partition.statistics.failed
    damaged += partition.statistics.damaged
  }
}
