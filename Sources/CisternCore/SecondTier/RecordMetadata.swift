/// The data of a record besides its key and its bytes. Durations are in nanoseconds.
public struct RecordMetadata: Sendable, Equatable, Codable {
  // The order of the properties avoids padding. Look-ups on disk copy metadata several times.

  /// The time at which the value was written.
  public var created: WallTime
  /// The tags of the value.
  public var tags: [String]
  /// The time after ``expires`` during which a read can return the stale value. Zero means never; the maximum means
  /// forever.
  public var grace: UInt64 = 0
  /// The time to idle: the time without an access after which the value expires. Zero means that it never expires
  /// by idling.
  public var idle: UInt64 = 0
  /// The time before ``expires`` during which an access starts a background refresh. Zero disables it.
  public var refreshAhead: UInt64 = 0
  /// The invalidation version of the value.
  ///
  /// It is the partition's newest version at the start of the value's fetch, or at the time of the set. Zero means
  /// that no invalidation preceded it.
  public var invalidationVersion: UInt64 = 0
  /// The time at which the value expires, or nil if it never expires.
  public var expires: WallTime?
  /// The value's cost in memory, as weighed when it was written.
  public var cost: UInt32
  /// The last access time, as far as it was written. If it is nil, ``created`` is the last access time.
  public var lastUsed: WallTime?
  /// The version of the user's schema that the bytes follow.
  public var schemaVersion: UInt32
  /// The part of the grace in which a read can return the stale value while a refresh runs; nil for the whole grace.
  public var staleWhileRevalidate: UInt64?
  /// Whether the record is a negative result: it stores that a value does not exist (``OptionalValue``). Its bytes
  /// are empty.
  public var isNegative = false
  /// Whether the value was set rather than fetched. The file does not store it.
  ///
  /// A committed invalidation of another process does not affect a value that is set later. It can affect a fetched
  /// value, because the fetch may have begun earlier.
  @usableFromInline package var isSet = false
  /// The part of the grace in which a read can return the stale value because a fetch failed; nil for the whole grace.
  public var staleIfError: UInt64?

  private enum CodingKeys: String, CodingKey {
    case created, expires, cost, schemaVersion, tags, grace, idle, lastUsed, refreshAhead, invalidationVersion
    case isNegative, staleWhileRevalidate, staleIfError
  }

  /// Creates the metadata of a record. The other properties have their defaults, and can be set afterwards.
  ///
  /// - Parameters:
  ///   - created: The time at which the value was written.
  ///   - expires: The time at which the value expires, or nil if it never expires.
  ///   - cost: The value's cost in memory.
  ///   - schemaVersion: The version of the user's schema.
  ///   - tags: The tags of the value.
  public init(
    created: WallTime, expires: WallTime? = nil, cost: UInt32, schemaVersion: UInt32 = 0, tags: [String] = []
  ) {
    self.created = created
    self.expires = expires
    self.cost = cost
    self.schemaVersion = schemaVersion
    self.tags = tags
  }

  /// The windows within the grace.
  package var windows: StaleWindows {
    get { StaleWindows(whileRevalidate: staleWhileRevalidate ?? .max, ifError: staleIfError ?? .max) }
    set {
      staleWhileRevalidate = newValue.whileRevalidate == .max ? nil : newValue.whileRevalidate
      staleIfError = newValue.ifError == .max ? nil : newValue.ifError
    }
  }
}
