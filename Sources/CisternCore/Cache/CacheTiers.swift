/// The tiers of its store that a cache uses.
public enum CacheTiers: String, Sendable, Hashable, CaseIterable {
  /// Memory and the second tier.
  case both
  /// Memory only. Nothing survives a restart, and records that the second tier has under the cache's name stay unread.
  case memoryOnly
  /// The second tier only, for values that are large or seldom read. Each look-up reads the second tier. Concurrent
  /// loads share one fetch, as in every cache.
  ///
  /// If the store is closed or read-only, a write is lost, and is reported as ``StoreReport/Code/refused``. A batch or
  /// the save of a draft throws instead, and stores nothing in any cache. It also throws while the disk fails.
  case secondTierOnly
}
