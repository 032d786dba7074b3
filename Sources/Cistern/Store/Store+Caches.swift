import Locking

extension Store {
  /// Opens a cache whose values a codec of your choice turns into bytes.
  ///
  /// - Parameters:
  ///   - name: the cache's name, between 1 and 128 bytes of UTF-8. What it stored before is there again.
  ///   - codec: turns values into bytes and back.
  ///   - keyType: the type of the keys.
  ///   - expiry: the lifetime of values that are given none of their own.
  ///   - configuration: what else is wanted.
  ///
  /// - Returns: the cache. For a name that is open already it is the same one, with the settings that it was opened with.
  ///
  /// Throws `CisternError` for a name or a limit that cannot be, and for a cache that is open with other types.
  @inlinable
  public func cache<Key: CacheKey, ValueCoding: Codec>(
    _ name: String, codec: ValueCoding, keyedBy keyType: Key.Type = Key.self, expiry: Expiry = .never,
    configuration: CacheConfiguration<ValueCoding.Value> = CacheConfiguration()
  ) throws(CisternError) -> Cache<Key, ValueCoding.Value> {
    try open(
      name, codec: ValueCodec(codec), expiry: expiry, configuration: configuration,
      bind: { SecondTierBinding<Key>($0) })
  }

  @usableFromInline
  func open<Key: Hashable & Sendable, Value: Sendable>(
    _ name: String, codec: ValueCodec<Value>, expiry: Expiry, configuration: CacheConfiguration<Value>,
    bind: (any SecondTierPartition) -> SecondTierBinding<Key>
  ) throws(CisternError) -> Cache<Key, Value> {
    if let existing = try member(named: name, as: Cache<Key, Value>.self) { return existing }
    try Self.check(name, configuration)
    // The tier tells of departures before there is a cache to tell, and after it is gone.
    let receiver = DepartureReceiver<Key, Value>()
    let partition = try secondTier?.partition(named: name) { receiver.cache.withLock { $0.cache }?.departed($0) }
    let cache = Cache(
      name: name, secondTier: partition.map(bind), codec: codec, expiry: expiry, configuration: configuration,
      surroundings: Cache.Surroundings(
        budget: budget, evictionPolicy: self.configuration.evictionPolicy, clock: self.configuration.clock,
        taskExecutor: self.configuration.taskExecutor, report: { [reportLog] in reportLog.add($0) },
        shardCount: self.configuration.shardCount, tier: secondTier))
    // Two threads may have come this far: the first one's cache is everybody's.
    let winner = caches.withLock { caches in
      if caches[name] == nil {
        caches[name] = cache
        receiver.cache.withLock { $0.cache = cache }
      }
      return caches[name]
    }
    guard let shared = winner as? Cache<Key, Value> else { throw Self.conflict(name) }
    return shared
  }

  private func member<Key, Value>(
    named name: String, as type: Cache<Key, Value>.Type
  ) throws(CisternError) -> Cache<Key, Value>? {
    guard let existing = caches.withLock({ $0[name] }) else { return nil }
    guard let cache = existing as? Cache<Key, Value> else { throw Self.conflict(name) }
    return cache
  }

  private static func conflict(_ name: String) -> CisternError {
    CisternError(
      .conflictingOpen,
      "the cache is open with other types of key or value; open it with the same types, or choose another name",
      location: "cache \"\(name)\"")
  }

  /// How many bytes of UTF-8 the name of a cache may have.
  package static let cacheNameLengths = 1...128

  private static func check<Value>(_ name: String, _ configuration: CacheConfiguration<Value>) throws(CisternError) {
    let location = "opening cache \"\(name)\""
    guard cacheNameLengths.contains(name.utf8.count) else {
      throw CisternError(
        .invalidArgument,
        "the name of a cache has between \(cacheNameLengths.lowerBound) and \(cacheNameLengths.upperBound) bytes; this one has \(name.utf8.count)",
        location: location)
    }
    try configuration.check(location: location)
  }
}

/// Where departures of a partition go: to its cache, while there is one.
private final class DepartureReceiver<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  struct Reference: Sendable {
    weak var cache: Cache<Key, Value>?
  }

  let cache = Guarded(Reference())
}
