/// What one shard of a cache has counted. Guarded by that shard's lock; a snapshot is the sum over the shards, and what
/// threads have counted without a lock: hits that shared their shard, and misses.
@usableFromInline
package struct ShardCounters: Sendable, Equatable {
  /// Look-ups that memory answered.
  @usableFromInline package var memoryHits = 0
  /// Values that were stored: by a set, or by a flight that published.
  @usableFromInline package var stores = 0
  /// Look-ups that the second tier answered.
  @usableFromInline package var diskHits = 0
  /// Look-ups that neither answered: only those to be taken back, which a stale value answered after all.
  @usableFromInline package var misses = 0
  /// Look-ups that memory answered with a value in grace.
  @usableFromInline package var staleHits = 0
  /// Flights that began in the background, while their entry's value was returned.
  @usableFromInline package var refreshes = 0
  /// Entries of memory that invalidations by tag or prefix took out.
  @usableFromInline package var invalidations = 0
  /// Callers that were answered without the result of their flight, because it took too long.
  @usableFromInline package var timeouts = 0
  /// Flights that began.
  @usableFromInline package var flights = 0
  /// Callers that waited for a flight that somebody else had begun.
  @usableFromInline package var joins = 0
  /// Flights whose fetch threw.
  @usableFromInline package var failures = 0
  /// Removals that somebody asked for, of keys that were there.
  @usableFromInline package var removals = 0
  /// Entries that the second tier evicted.
  @usableFromInline package var diskEvictions = 0
  /// Entries whose time was up, in either tier.
  @usableFromInline package var expirations = 0
  /// Values that no tier could hold.
  @usableFromInline package var refused = 0
  /// Values that could not be encoded, and are in memory only.
  @usableFromInline package var notEncodable = 0
  /// Records that could not be decoded, and were removed.
  @usableFromInline package var notDecodable = 0
  /// Records of an older version that were migrated.
  @usableFromInline package var migrated = 0
  /// Records of an older version that were removed, because nothing could be made of them.
  @usableFromInline package var dropped = 0
  /// Entries that left memory because their cost was needed.
  @usableFromInline package var evictionsByCost = 0
  /// Entries that left memory because there were too many.
  @usableFromInline package var evictionsByCount = 0

  /// Creates counters at zero.
  @usableFromInline
  package init() {}

  /// Adds what another shard has counted. Counts wrap, which nobody lives to see.
  package static func += (sum: inout ShardCounters, part: ShardCounters) {
    sum.memoryHits &+= part.memoryHits
    sum.diskHits &+= part.diskHits
    sum.misses &+= part.misses
    sum.staleHits &+= part.staleHits
    sum.refreshes &+= part.refreshes
    sum.timeouts &+= part.timeouts
    sum.invalidations &+= part.invalidations
    sum.flights &+= part.flights
    sum.joins &+= part.joins
    sum.failures &+= part.failures
    sum.stores &+= part.stores
    sum.removals &+= part.removals
    sum.evictionsByCost &+= part.evictionsByCost
    sum.evictionsByCount &+= part.evictionsByCount
    sum.diskEvictions &+= part.diskEvictions
    sum.expirations &+= part.expirations
    sum.refused &+= part.refused
    sum.notEncodable &+= part.notEncodable
    sum.notDecodable &+= part.notDecodable
    sum.migrated &+= part.migrated
    sum.dropped &+= part.dropped
  }
}
