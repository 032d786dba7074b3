import Locking

extension Store {
  /// Opens a cache whose values a codec of your choice turns into bytes.
  ///
  /// - Parameters:
  ///   - name: the cache's name, between 1 and 128 bytes of UTF-8. What it stored before is there again. Equal strings are
  ///     one name, also if their accents are composed in one and decomposed in the other.
  ///   - codec: turns values into bytes and back.
  ///   - keyType: the type of the keys.
  ///   - expiry: the lifetime of values that are given none of their own.
  ///   - configuration: what else is wanted.
  ///
  /// - Returns: the cache. A name that is open already, in any store of the directory, returns the same cache.
  ///
  /// Throws `CisternError` for a name or a limit that cannot be. Throws one with the code
  /// ``CisternError/Code/conflictingOpen``, which names the difference, in two cases:
  ///
  /// - The cache is open with other types, another expiry or another configuration. Closures cannot be compared: only
  ///   their presence counts, and those of the first opening stay in use.
  /// - Its records were written by a codec with another ``Codec/formatIdentifier``. Open it with that codec, give the
  ///   configuration's ``CacheConfiguration/schema`` a new version, or choose another name.
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
    // Equal names are one cache, also on disk, which compares bytes.
    let name = name.normalizedForKey()
    let settings = configuration.settings(codec: codec.formatIdentifier, expiry: expiry)
    if let open = shared.cache(named: name) {
      return try keep(open.member, settings: open.settings, named: name, ifLike: settings)
    }
    try Self.check(name, configuration)
    if isClosed, shared.secondTier != nil {
      throw CisternError(
        .storeClosed, "this store was closed; open another one", location: "opening cache \"\(name)\"")
    }
    // The tier reports lost keys before there is a cache, and after it is gone.
    let receiver = DepartureReceiver<Key, Value>()
    let partition = try shared.secondTier?.partition(named: name) {
      receiver.cache.withLock { $0.cache }?.departed($0)
    }
    try partition?.adopt(
      ValueFormat(codec: codec.formatIdentifier, schemaVersion: configuration.schema?.version ?? 0))
    let store = shared.configuration
    let cache = Cache(
      name: name, secondTier: partition.map(bind), codec: codec, expiry: expiry, configuration: configuration,
      surroundings: Cache.Surroundings(
        budget: shared.budget, evictionPolicy: store.evictionPolicy, clock: store.clock,
        taskExecutor: store.taskExecutor, report: { [reportLog = shared.reportLog] in reportLog.add($0) },
        shardCount: store.shardCount, shared: shared))
    // Two threads may have come this far.
    let first = shared.enter(cache, named: name, settings: settings) { receiver.cache.withLock { $0.cache = cache } }
    return try keep(first.member, settings: first.settings, named: name, ifLike: settings)
  }

  /// The open cache with this name, which this store keeps alive from now on. Throws if it is not like the one that is
  /// asked for.
  private func keep<Key, Value>(
    _ member: any StoreMember, settings: OpenSettings, named name: String, ifLike wanted: OpenSettings
  ) throws(CisternError) -> Cache<Key, Value> {
    let location = "cache \"\(name)\""
    guard let cache = member as? Cache<Key, Value> else {
      throw CisternError(
        .conflictingOpen,
        "the cache is open in this process with other types: it is a \(type(of: member)), not a \(Cache<Key, Value>.self). "
          + "Open it with the same types, or choose another name",
        location: location)
    }
    let differences = settings.differences(in: wanted)
    guard differences.isEmpty else { throw OpenSettings.conflict("the cache", differences, location: location) }
    hold(cache, named: name)
    return cache
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
