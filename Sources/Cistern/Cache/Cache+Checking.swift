extension Cache: StoreMember {
  /// What the cache has counted since it was opened, and what it holds, as of one instant.
  ///
  /// Holds all of the cache's locks for as long as it takes to add up its counters: microseconds.
  public var statistics: CacheStatistics {
    let snapshot = table.snapshot()
    return CacheStatistics(
      counters: snapshot.counters, inProgressCount: snapshot.inProgressCount,
      waiterCount: table.waiterCounts.suspended.load(ordering: .relaxed),
      cancellations: table.waiterCounts.cancelled.load(ordering: .relaxed),
      memory: table.budget.statistics(entryCount: snapshot.count, cost: snapshot.cost),
      disk: secondTier?.partition.statistics)
  }

  /// Evicts from memory until no more than this total cost is left. What is on disk stays.
  public func trim(toCost target: Int) {
    table.trim(toCost: target)
  }

  /// Recounts everything, and finds what does not add up; empty when all is sound. Visits every entry: for tests.
  package func checkInvariants() -> [String] {
    table.findings()
  }
}
