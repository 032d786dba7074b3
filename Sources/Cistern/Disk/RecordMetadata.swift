/// What a record carries beside its key and its bytes. Durations are in nanoseconds.
public struct RecordMetadata: Sendable, Equatable {
  /// When it was written.
  public var created: WallTime
  /// When it stops being fresh; nil for never.
  public var expires: WallTime?
  /// Its cost in memory, as weighed when it was written.
  public var cost: UInt32
  /// The version of the user's schema that its bytes follow.
  public var schemaVersion: UInt32
  /// The tags that it was given.
  public var tags: [String]
  /// For how long after ``expires`` the value may be served stale; zero for not at all, the greatest number for ever.
  public var grace: UInt64
  /// After how long without a use it is gone; zero for never.
  public var idle: UInt64
  /// When it was last used, as far as that was written; nil for when it was ``created``.
  public var lastUsed: WallTime?
  /// How long before ``expires`` a use begins to refresh it; zero for not at all.
  public var refreshAhead: UInt64
  /// The number of the partition's newest invalidation (``SecondTierPartition/currentEra``) when the value began to be
  /// fetched, or was set; zero before the first.
  public var era: UInt64
  /// Whether what is stored is that there is nothing (``OptionalValue``); the bytes are empty then.
  public var isNegative: Bool
  /// Whether the value is set now, and not fetched: another process's invalidation that is committed before it does not
  /// concern it. Not written.
  package var isSet = false

  /// Creates metadata.
  public init(
    created: WallTime, expires: WallTime? = nil, cost: UInt32, schemaVersion: UInt32 = 0, tags: [String] = [],
    grace: UInt64 = 0, idle: UInt64 = 0, lastUsed: WallTime? = nil, refreshAhead: UInt64 = 0, era: UInt64 = 0,
    isNegative: Bool = false
  ) {
    self.created = created
    self.expires = expires
    self.cost = cost
    self.schemaVersion = schemaVersion
    self.tags = tags
    self.grace = grace
    self.idle = idle
    self.lastUsed = lastUsed
    self.refreshAhead = refreshAhead
    self.era = era
    self.isNegative = isNegative
  }
}
