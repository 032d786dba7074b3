/// The outcome of a bulk load, key by key.
public struct LoadedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var found: [Key: Value] = [:]
  @usableFromInline var failed: [Key: any Error] = [:]
  @usableFromInline var left: Set<Key> = []

  @inlinable
  init() {}

  /// The values of the keys that have one.
  @inlinable
  public var values: [Key: Value] { found }

  /// The errors of the keys whose fetch failed.
  @inlinable
  public var failures: [Key: any Error] { failed }

  /// The keys that the fetch did not return.
  @inlinable
  public var missing: Set<Key> { left }

  /// The value of a key; nil if its fetch failed or the key is missing.
  @inlinable
  public subscript(key: Key) -> Value? { found[key] }
}
