/// The outcome of a bulk load, key by key.
public struct LoadedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var found: [Key: Value] = [:]
  @usableFromInline var failed: [Key: any Error] = [:]
  @usableFromInline var withoutValue: Set<Key> = []
  /// The details of the values, if the load asked for them.
  @usableFromInline var described: [Key: Loaded<Value>] = [:]

  @inlinable
  init() {}

  /// The values of the keys that have one.
  @inlinable
  public var values: [Key: Value] { found }

  /// The errors of the keys whose fetch failed.
  @inlinable
  public var failures: [Key: any Error] { failed }

  /// The values with their sources, ages and remaining lifetimes. Empty for a load whose fetch received no contexts
  /// (``Cache/values(forKeys:expiry:tags:policy:fetch:)``).
  public var details: [Key: Loaded<Value>] { described }

  /// The keys without a value.
  ///
  /// The fetch did not return them, or the origin does not have them (``FetchOutcome/absent(expiry:)``). With a policy
  /// that does not fetch, no tier has them.
  @inlinable
  public var missing: Set<Key> { withoutValue }

  /// The value of a key; nil if its fetch failed or the key is missing.
  @inlinable
  public subscript(key: Key) -> Value? { found[key] }

  /// Adds the value of a key.
  @inlinable
  mutating func add(_ loaded: Loaded<Value>, for key: Key, describing: Bool) {
    found[key] = loaded.value
    if describing { described[key] = loaded }
  }
}
