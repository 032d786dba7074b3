/// The lifetimes of a cache, and the average density of its evicted entries.
struct LearnedLifetimes: ~Copyable {
  private(set) var lifetimes = LifetimeStatistics()
  /// The moving average of the densities of evicted entries.
  private(set) var evictedDensity: Float = 0

  /// Adds the observations of a shard, and empties them.
  mutating func add(_ observed: inout ObservedLifetimes, entryCount: Int) {
    let evicted = observed.evicted
    if evicted.count > 0 {
      let share = min(1, evicted.count * 8 / Float(entryCount + 8))
      evictedDensity += (evicted.densities / evicted.count - evictedDensity) * share
    }
    observed.removeAll { lifetimes.count($0) }
  }

  /// Computes the densities. Older lifetimes lose weight, so that new ones dominate.
  mutating func compute(_ densities: HitDensities, entryCount: Int) {
    if lifetimes.total > Float(max(2_000, entryCount * 10)) { lifetimes.fade() }
    densities.learn(lifetimes, scale: Float(max(entryCount, 16)))
  }
}
