extension Cache: StoreMember {
  /// The counters of the cache since it was opened, and its contents, as of one instant.
  ///
  /// - Complexity: O(1) for a given number of shards. The call holds all locks of the cache for some microseconds.
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
  ///
  /// - Parameter target: The total cost to keep.
  /// - Complexity: O(*n*) for *n* evicted entries.
  public func trim(toCost target: Int) {
    table.trim(toCost: target)
  }

  /// Recounts the contents of memory and describes each contradiction. Returns an empty array if the cache is
  /// consistent and no flight is in progress. For tests: visits every entry.
  package func checkInvariants() -> [String] {
    table.findings()
  }
}
