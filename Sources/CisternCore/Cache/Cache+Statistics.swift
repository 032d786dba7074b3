extension Cache {
  /// The counters of the cache since it was opened, and its contents, as of one instant.
  ///
  /// Holds all locks of the cache while it adds up the counters: microseconds.
  public var statistics: CacheStatistics {
    let snapshot = table.snapshot()
    var statistics = CacheStatistics(
      counters: snapshot.counters, misses: snapshot.misses,
      memory: table.budget.statistics(entryCount: snapshot.count, cost: snapshot.cost),
      disk: secondTier?.partition.statistics)
    statistics.inProgressCount = snapshot.inProgressCount
    statistics.waiterCount = table.waiterCounts.suspended.load(ordering: .relaxed)
    statistics.cancellations = table.waiterCounts.cancelled.load(ordering: .relaxed)
    return statistics
  }
}
