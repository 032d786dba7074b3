/// The counts of one cache since it was opened, and its current contents.
///
/// All values are from one instant, except for ``misses``, ``disk``, ``waiterCount`` and ``cancellations``, which are
/// read shortly before or after it.
public struct CacheStatistics: Sendable, Equatable {
  /// The number of lookups that memory answered.
  public var memoryHits: Int
  /// The number of lookups that the second tier answered.
  public var diskHits: Int
  /// The number of lookups that neither tier answered.
  public var misses: Int
  /// The number of lookups answered with an expired value in its grace. They also count as ``memoryHits`` or
  /// ``diskHits``.
  public var staleHits: Int
  /// The number of flights that began in the background, while callers received the cached value.
  public var refreshes: Int
  /// The number of values that invalidations by tag or prefix removed from memory. A value that is evicted first counts
  /// as an eviction.
  public var invalidations: Int
  /// The number of removals by tag or prefix that removed all keys, because the second tier cannot remove a part of
  /// them.
  public var widenedRemovals: Int
  /// The number of callers whose flight took too long. They received an older value, a value that was set during the
  /// flight, or an error.
  public var timeouts: Int
  /// The number of flights that began. A flight of a key that memory does not have looks in the second tier before it
  /// fetches.
  public var flights: Int
  /// The number of callers that joined the flight of another caller. Each saves a fetch, unless the second tier has the
  /// value.
  public var joins: Int
  /// The number of flights whose fetch threw. Keys that a bulk fetch omitted do not count. Neither does a flight without
  /// callers whose key was written.
  public var failures: Int
  /// The number of flights whose fetch the ``CircuitBreaker`` did not call. They do not count as ``failures``.
  public var rejected: Int
  /// The number of values that were stored, by a set or by a flight that published.
  public var stores: Int
  /// The number of removals on request, of keys that were present. The removal of an expired value is an expiration.
  public var removals: Int
  /// The number of entries evicted from memory to stay within the limit on cost, or by a trim. They may still be on
  /// disk.
  public var evictionsByCost: Int
  /// The number of entries evicted from memory to stay within the limit on entries. They may still be on disk.
  public var evictionsByCount: Int
  /// The number of entries that the second tier evicted to make room.
  public var diskEvictions: Int
  /// The number of expired values, in either tier, that lookups, loads, updates or removals found. A set or a fetched
  /// value that replaces an expired one does not count it.
  public var expirations: Int
  /// The number of values that no tier could hold. Callers received them without storage.
  public var refused: Int
  /// The number of values that could not be encoded. They are in memory only, or without a weigher not stored at all.
  public var notEncodable: Int
  /// The number of records that could not be decoded and were removed.
  public var notDecodable: Int
  /// The number of records of an older schema version that were migrated and written again.
  public var migrated: Int
  /// The number of records of an older schema version that were removed because they could not be migrated.
  public var dropped: Int
  /// The number of flights in progress.
  public var inProgressCount = 0
  /// The number of callers that wait for these flights.
  public var waiterCount = 0
  /// The number of callers that were cancelled while they waited.
  public var cancellations = 0
  /// The memory that the cache uses.
  public var memory: MemoryStatistics
  /// The contents and the counts of the cache's second tier, or nil for a cache in memory only.
  public var disk: SecondTierStatistics?

  /// The number of lookups that a tier answered.
  public var hits: Int { memoryHits &+ diskHits }

  /// The number of all lookups. A load that joins a flight counts among ``joins`` alone, unless it gets an older value
  /// because the flight fails or takes too long.
  public var lookUps: Int { hits &+ misses }

  /// The fraction of lookups that a tier answered, from 0 to 1. It is 0 before the first lookup.
  public var hitRatio: Double { lookUps == 0 ? 0 : Double(hits) / Double(lookUps) }
}

extension CacheStatistics {
  /// Creates a snapshot without flights and waiters from these counters.
  package init(
    counters: ShardCounters = ShardCounters(), misses: Int = 0, memory: MemoryStatistics = MemoryStatistics(),
    disk: SecondTierStatistics? = nil
  ) {
    memoryHits = counters.memoryHits
    diskHits = counters.diskHits
    self.misses = misses
    staleHits = counters.staleHits
    refreshes = counters.refreshes
    timeouts = counters.timeouts
    invalidations = counters.invalidations
    widenedRemovals = counters.widenedRemovals
    flights = counters.flights
    joins = counters.joins
    failures = counters.failures
    rejected = counters.rejected
    stores = counters.stores
    removals = counters.removals
    evictionsByCost = counters.evictionsByCost
    evictionsByCount = counters.evictionsByCount
    diskEvictions = counters.diskEvictions
    expirations = counters.expirations
    refused = counters.refused
    notEncodable = counters.notEncodable
    notDecodable = counters.notDecodable
    migrated = counters.migrated
    dropped = counters.dropped
    self.memory = memory
    self.disk = disk
  }
}

extension CacheStatistics: CustomStringConvertible {
  /// A table of two columns, with one count on each line.
  public var description: String {
    var table = StatisticsTable()
    table.add("hit ratio", percent: hitRatio)
    table.add("hits in memory", memoryHits)
    table.add("hits on disk", diskHits)
    table.add("misses", misses)
    table.add("stale hits", staleHits)
    table.add("refreshes", refreshes)
    table.add("timeouts", timeouts)
    table.add("invalidations", invalidations)
    table.add("widened removals", widenedRemovals)
    table.add("flights", flights)
    table.add("joins", joins)
    table.add("cancellations", cancellations)
    table.add("failures", failures)
    table.add("rejected by the circuit breaker", rejected)
    table.add("stores", stores)
    table.add("removals", removals)
    table.add("evictions by cost", evictionsByCost)
    table.add("evictions by count", evictionsByCount)
    table.add("evictions on disk", diskEvictions)
    table.add("expirations", expirations)
    table.add("refused", refused)
    table.add("not encodable", notEncodable)
    table.add("not decodable", notDecodable)
    table.add("migrated", migrated)
    table.add("dropped", dropped)
    table.add("in progress", inProgressCount)
    table.add("waiters", waiterCount)
    table.add(memory)
    if let disk { table.add(disk) }
    return table.description
  }
}
