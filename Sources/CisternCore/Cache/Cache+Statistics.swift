extension Cache {
  /// The counters of the cache since it was opened, and its contents, as of one instant.
  ///
  /// Holds all locks of the cache while it adds up the counters: microseconds.
  public var statistics: CacheStatistics {
    let totals = table.totals()
    var statistics = CacheStatistics(
      counters: totals.counters, misses: totals.misses,
      memory: table.budget.statistics(entryCount: totals.count, cost: totals.cost),
      disk: secondTier?.partition.statistics)
    statistics.inProgressCount = totals.inProgressCount
    statistics.waiterCount = table.waiterCounts.suspended.load(ordering: .relaxed)
    statistics.cancellations = table.waiterCounts.cancelled.load(ordering: .relaxed)
    return statistics
  }
}
