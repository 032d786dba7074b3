import Eviction

extension MemoryBudget {
  /// Returns the gauges of a memory consumer with these totals.
  package func statistics(entryCount: Int, cost: Int) -> MemoryStatistics {
    let limit = overallLimit
    return MemoryStatistics(
      entryCount: entryCount, cost: cost, peakCost: peakCost, costLimit: limit.cost,
      countLimit: limit.count == .max ? nil : limit.count)
  }
}
