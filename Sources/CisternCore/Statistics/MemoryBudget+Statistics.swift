import Eviction

extension MemoryBudget {
  /// The gauges of whoever holds this much under the budget.
  package func statistics(entryCount: Int, cost: Int) -> MemoryStatistics {
    let limit = overallLimit
    return MemoryStatistics(
      entryCount: entryCount, cost: cost, peakCost: peakCost, costLimit: limit.cost,
      countLimit: limit.count == .max ? nil : limit.count)
  }
}
