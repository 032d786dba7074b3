/// A key with the data of its value, as an enumeration found them. The value itself is not decoded.
public struct CacheEntry<Key: CacheKey, Value: Sendable>: Sendable {
  /// The key.
  public let key: Key
  /// The cost of the value in memory, as weighed when it was written.
  public let cost: Int
  /// The time since the value was stored, or since the edit if an unconfirmed edit shows the value.
  ///
  /// Nil if only memory holds the value, and the cache does not measure it (``CacheConfiguration/measuresAge``).
  public let age: Duration?
  /// The time to the end of the lifetime; negative for a stale value. Nil if the lifetime is unlimited.
  public let remainingLifetime: Duration?
  /// Whether the value is past its lifetime, and in grace.
  public let isStale: Bool
  /// The tags of the value.
  @inlinable
  public var tags: [String] { someTags ?? [] }
  /// The tiers that hold the value.
  public let residency: EntryResidency

  @usableFromInline let records: SecondTierReader<Key, Value>
  /// The tags, or nil for none. A copy of an empty array would cost reference counting.
  @usableFromInline let someTags: [String]?

  @inlinable
  init(
    _ key: Key, _ state: EntryState, residency: EntryResidency, records: SecondTierReader<Key, Value>
  ) {
    self.key = key
    cost = state.cost
    age = state.age
    remainingLifetime = state.remainingLifetime
    isStale = state.isStale
    someTags = state.tags
    self.residency = residency
    self.records = records
  }

  /// Returns the key's current value, fresh or in grace, or nil if it has none any more.
  ///
  /// Reads and decodes a value that only the second tier holds. Memory does not keep it, so that an enumeration evicts
  /// no value. The call is no use of a value in memory.
  public func value() -> Value? { records.valueWithoutPromotion(of: records.table.hashed(key)) }
}
