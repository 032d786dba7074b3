/// What one cache has counted since it was opened, and what it holds now.
///
/// A snapshot of one instant, except for ``misses``, ``disk``, ``waiterCount`` and ``cancellations``, which are read a moment apart.
public struct CacheStatistics: Sendable, Equatable {
  /// Look-ups that memory answered.
  public var memoryHits: Int
  /// Look-ups that the second tier answered.
  public var diskHits: Int
  /// Look-ups that neither tier answered.
  public var misses: Int
  /// Look-ups answered with a value past its lifetime and in grace. They are among ``memoryHits`` or ``diskHits``, too.
  public var staleHits: Int
  /// Flights that began in the background, while their entry's value was returned.
  public var refreshes: Int
  /// Entries of memory that invalidations by tag or prefix took out.
  public var invalidations: Int
  /// Callers whose flight took too long: they got an older value, or an error.
  public var timeouts: Int
  /// Flights that began: each is at most one fetch.
  public var flights: Int
  /// Callers that waited for a flight which somebody else had begun: each is a fetch saved.
  public var joins: Int
  /// Flights whose fetch threw. A key that a bulk fetch left out is not among them.
  public var failures: Int
  /// Values that were stored: by a set, or by a flight that published.
  public var stores: Int
  /// Removals that somebody asked for, of keys that were there.
  public var removals: Int
  /// Entries that left memory because their cost was needed. They may still be on disk.
  public var evictionsByCost: Int
  /// Entries that left memory because there were too many. They may still be on disk.
  public var evictionsByCount: Int
  /// Entries that the second tier evicted for room.
  public var diskEvictions: Int
  /// Entries whose time was up, in either tier.
  public var expirations: Int
  /// Values that no tier could hold; their callers got them.
  public var refused: Int
  /// Values that could not be encoded: they are in memory only, or without a weigher nowhere.
  public var notEncodable: Int
  /// Records that could not be decoded, and were removed.
  public var notDecodable: Int
  /// Records of an older version of the schema that were migrated, and written again.
  public var migrated: Int
  /// Records of an older version of the schema that were removed, because nothing could be made of them.
  public var dropped: Int
  /// Flights under way now.
  public var inProgressCount: Int
  /// Callers that wait for them.
  public var waiterCount: Int
  /// Callers that were cancelled while they waited.
  public var cancellations: Int
  /// What the cache holds in memory.
  public var memory: MemoryStatistics
  /// What the cache holds in the second tier, and what that has counted; nil where there is none.
  public var disk: SecondTierStatistics?

  /// Look-ups that a tier answered.
  public var hits: Int { memoryHits &+ diskHits }

  /// Look-ups in all.
  public var lookUps: Int { hits &+ misses }

  /// The part of all look-ups that a tier answered, from 0 to 1; 0 before the first look-up.
  public var hitRatio: Double { lookUps == 0 ? 0 : Double(hits) / Double(lookUps) }
}

extension CacheStatistics {
  /// The snapshot that these counts and gauges make.
  package init(
    counters: ShardCounters = ShardCounters(), inProgressCount: Int = 0, waiterCount: Int = 0, cancellations: Int = 0,
    memory: MemoryStatistics = MemoryStatistics(), disk: SecondTierStatistics? = nil
  ) {
    memoryHits = counters.memoryHits
    diskHits = counters.diskHits
    misses = counters.misses
    staleHits = counters.staleHits
    refreshes = counters.refreshes
    timeouts = counters.timeouts
    invalidations = counters.invalidations
    flights = counters.flights
    joins = counters.joins
    failures = counters.failures
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
    self.inProgressCount = inProgressCount
    self.waiterCount = waiterCount
    self.cancellations = cancellations
    self.memory = memory
    self.disk = disk
  }
}

extension CacheStatistics: CustomStringConvertible {
  /// A table of two columns, one count a line.
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
    table.add("flights", flights)
    table.add("joins", joins)
    table.add("cancellations", cancellations)
    table.add("failures", failures)
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
