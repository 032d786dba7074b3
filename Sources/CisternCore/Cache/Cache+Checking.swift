extension Cache: StoreMember {
  /// The counters of the cache since it was opened, and its contents, as of one instant.
  ///
  /// Holds all locks of the cache while it adds up the counters: microseconds.
  public var statistics: CacheStatistics {
    let snapshot = table.snapshot()
    var statistics = CacheStatistics(
      counters: snapshot.counters, memory: table.budget.statistics(entryCount: snapshot.count, cost: snapshot.cost),
      disk: secondTier?.partition.statistics)
    statistics.inProgressCount = snapshot.inProgressCount
    statistics.waiterCount = table.waiterCounts.suspended.load(ordering: .relaxed)
    statistics.cancellations = table.waiterCounts.cancelled.load(ordering: .relaxed)
    return statistics
  }

  /// Evicts from memory until no more than this total cost is left. Records on disk stay.
  public func trim(toCost target: Int) {
    table.trim(toCost: target)
  }

  /// Recounts everything and returns the contradictions; empty if all is sound. Visits every entry: for tests.
  package func checkInvariants() -> [String] {
    table.findings()
  }
}
