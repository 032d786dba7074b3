/// The counters of one shard of a cache, guarded by the shard's lock.
///
/// A snapshot is the sum over all shards, plus the counts that threads make without the exclusive lock. These are
/// misses, and hits that share the shard with other readers.
@usableFromInline
package struct ShardCounters: Sendable, Equatable {
  /// The number of lookups that memory answered.
  @usableFromInline package var memoryHits = 0
  /// The number of values that were stored, by a set or by a flight that published.
  @usableFromInline package var stores = 0
  /// The number of lookups that the second tier answered.
  @usableFromInline package var diskHits = 0
  /// The number of lookups that counted a miss, and that a cached value answered after a wait. They are also hits, and
  /// a snapshot does not count them among the misses.
  @usableFromInline package var lateHits = 0
  /// The number of lookups that memory answered with an expired value in its grace.
  @usableFromInline package var staleHits = 0
  /// The number of flights that began in the background, while callers received the cached value.
  @usableFromInline package var refreshes = 0
  /// The number of entries that invalidations by tag or prefix removed from memory.
  @usableFromInline package var invalidations = 0
  /// The number of removals by tag or prefix that removed all keys.
  @usableFromInline package var widenedRemovals = 0
  /// The number of callers whose flight took too long. They received an older value or an error.
  @usableFromInline package var timeouts = 0
  /// The number of flights that began.
  @usableFromInline package var flights = 0
  /// The number of callers that joined the flight of another caller.
  @usableFromInline package var joins = 0
  /// The number of flights whose fetch threw.
  @usableFromInline package var failures = 0
  /// The number of flights whose fetch the circuit breaker rejected.
  @usableFromInline package var rejected = 0
  /// The number of removals on request, of keys that were present.
  @usableFromInline package var removals = 0
  /// The number of entries that the second tier evicted.
  @usableFromInline package var diskEvictions = 0
  /// The number of entries that expired, in either tier.
  @usableFromInline package var expirations = 0
  /// The number of values that no tier could hold.
  @usableFromInline package var refused = 0
  /// The number of values that could not be encoded.
  @usableFromInline package var notEncodable = 0
  /// The number of records that could not be decoded and were removed.
  @usableFromInline package var notDecodable = 0
  /// The number of records of an older schema version that were migrated.
  @usableFromInline package var migrated = 0
  /// The number of records of an older schema version that were removed because they could not be migrated.
  @usableFromInline package var dropped = 0
  /// The number of entries evicted from memory to stay within the limit on cost.
  @usableFromInline package var evictionsByCost = 0
  /// The number of entries evicted from memory to stay within the limit on entries.
  @usableFromInline package var evictionsByCount = 0

  /// Creates counters at zero.
  @usableFromInline
  package init() {}

  /// Adds the counters of another shard. The additions wrap on overflow.
  package static func += (sum: inout ShardCounters, part: ShardCounters) {
    sum.memoryHits &+= part.memoryHits
    sum.diskHits &+= part.diskHits
    sum.lateHits &+= part.lateHits
    sum.staleHits &+= part.staleHits
    sum.refreshes &+= part.refreshes
    sum.timeouts &+= part.timeouts
    sum.invalidations &+= part.invalidations
    sum.widenedRemovals &+= part.widenedRemovals
    sum.flights &+= part.flights
    sum.joins &+= part.joins
    sum.failures &+= part.failures
    sum.rejected &+= part.rejected
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
