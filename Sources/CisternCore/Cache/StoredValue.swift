/// A value of a cache, with its lifetime at the time when it was read.
public struct StoredValue<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  /// Whether the value is past its lifetime, and in grace.
  public let isStale: Bool
  private let details: ValueDetails

  init(_ value: Value, isStale: Bool, _ details: ValueDetails) {
    self.value = value
    self.isStale = isStale
    self.details = details
  }

  /// The time since the value was stored or confirmed; nil if the cache does not measure it
  /// (``CacheConfiguration/measuresAge``).
  public var age: Duration? { details.age }

  /// The time to the end of the lifetime; negative for a stale value, and nil for an unlimited lifetime.
  public var remainingLifetime: Duration? { details.remainingLifetime }

  /// The tags of the value.
  public var tags: [String] { details.tags }
}
