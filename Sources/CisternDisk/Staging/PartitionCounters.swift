import CisternCore
import Synchronization

/// The counters of a partition since the directory was opened.
///
/// Readers count hits and misses on any thread. Each thread adds to a stripe that it seldom shares.
final class PartitionCounters: Sendable {
  let hits = StripedCounter()
  let misses = StripedCounter()
  let stores = Atomic<Int>(0)
  let removals = Atomic<Int>(0)
  let evictions = Atomic<Int>(0)
  let refused = Atomic<Int>(0)
  let failed = Atomic<Int>(0)
  let damaged = Atomic<Int>(0)
  /// The live records and their bytes, as of the last commit of this process or the opening of the partition.
  let records = Atomic<Int>(0)
  let bytes = Atomic<Int>(0)

  func set(_ counts: GenerationCounts) {
    records.store(counts.records, ordering: .relaxed)
    bytes.store(counts.bytes, ordering: .relaxed)
  }

  /// Adds these counters to the statistics.
  func add(to statistics: inout SecondTierStatistics) {
    statistics.hits += hits.value
    statistics.misses += misses.value
    statistics.stores += stores.load(ordering: .relaxed)
    statistics.removals += removals.load(ordering: .relaxed)
    statistics.evictions += evictions.load(ordering: .relaxed)
    statistics.refused += refused.load(ordering: .relaxed)
    statistics.failed += failed.load(ordering: .relaxed)
    statistics.damaged += damaged.load(ordering: .relaxed)
  }
}

extension Atomic<Int> {
  /// Adds to the counter with relaxed ordering.
  func count(_ number: Int = 1) {
    wrappingAdd(number, ordering: .relaxed)
  }
}
