/// A value, its source, and its lifetime at the time of the load.
public struct Loaded<Value: Sendable>: Sendable {
  /// The source of a value.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// Memory.
    case memory
    /// The second tier. Memory did not have the value when the load began. It may be stale.
    case secondTier
    /// The flight of another caller.
    case joined
    /// This call's own fetch.
    case fetched
  }

  /// The value.
  public let value: Value
  /// The source of the value.
  public let source: Source
  /// Whether it is past its lifetime, and in grace.
  public let isStale: Bool
  /// Behind a reference, because most loads do not ask for it.
  @usableFromInline let details: ValueDetails?

  @inlinable
  init(value: Value, source: Source, isStale: Bool = false, details: ValueDetails? = nil) {
    self.value = value
    self.source = source
    self.isStale = isStale
    self.details = details
  }

  /// The time since the value was stored, or since a fetch confirmed it (``FetchOutcome/keepStored(expiry:tags:)``).
  ///
  /// Zero for a value that a fetch has just returned. The value of an unconfirmed edit has the age of the edit. Nil if
  /// the cache does not measure it (``CacheConfiguration/measuresAge``).
  public var age: Duration? { details?.age }

  /// The time to the end of the lifetime; negative for a stale value.
  ///
  /// Nil if the lifetime is unlimited, or if the value was not stored.
  public var remainingLifetime: Duration? { details?.remainingLifetime }

  /// The tags of the value. Empty if the value was not stored.
  public var tags: [String] { details?.tags ?? [] }
}
