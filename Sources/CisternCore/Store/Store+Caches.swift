import Eviction

extension Store {
  /// Opens a cache that encodes its values with a codec of your choice.
  ///
  /// - Parameters:
  ///   - name: The cache's name, between 1 and 128 bytes of UTF-8. The cache contains the records that were stored
  ///     under this name earlier. Equal strings are the same name, even if only one of them uses decomposed accents.
  ///   - codec: The codec that converts values to bytes and back.
  ///   - keyType: The type of the keys. The disk does not record it: choose another name when the type changes.
  ///   - expiry: The lifetime of values that are stored without an expiry.
  ///   - configuration: Further options.
  ///
  /// - Returns: The cache. If any store of the directory has the cache open, returns that instance.
  ///
  /// - Throws: `CisternError` if the name or a limit is invalid, or if the store is closed. The code is
  ///   ``CisternError/Code/conflictingOpen`` in two cases, and the message states the difference:
  ///   - The cache is open with other types, another expiry or another configuration. Closures cannot be compared:
  ///     only their presence counts, and those of the first opening stay in use.
  ///   - A codec with another ``Codec/formatIdentifier`` wrote the cache's records. Use that codec, give the
  ///     configuration's ``CacheConfiguration/schema`` a new version, or choose another name.
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
    bind: (any TransactionalPartition) -> SecondTierBinding<Key>
  ) throws(CisternError) -> Cache<Key, Value> {
    // Equal strings must be one cache on disk as well, where names are compared as bytes.
    let name = name.normalizedForKey()
    let settings = configuration.settings(codec: codec.formatIdentifier, expiry: expiry)
    try checkIsOpen(to: "opening cache \"\(name)\"")
    if let open = shared.openCaches.cache(named: name) {
      return try keep(open.member, settings: open.settings, named: name, ifLike: settings)
    }
    try Self.check(name, configuration)
    if configuration.tiers == .secondTierOnly, shared.secondTier == nil {
      throw CisternError(
        .invalidArgument,
        "the cache uses the second tier only, but the store has none; open a store with a directory, or use other tiers",
        location: "opening cache \"\(name)\"")
    }
    let tier = configuration.tiers == .memoryOnly ? nil : shared.secondTier
    let partition = try tier?.transactionalPartition(named: name) { [openCaches = shared.openCaches] losses in
      openCaches.handleRecordLosses(losses, ofCacheNamed: name)
    }
    let format = ValueFormat(codec: codec.formatIdentifier, schemaVersion: configuration.schema?.version ?? 0)
    let registration = try partition?.register(format)
    let cache = Cache(
      Cache.Storage(name: name, secondTier: partition.map(bind), codec: codec), expiry: expiry,
      configuration: configuration,
      storeParts: Cache.StoreParts(
        shared.configuration, budget: shared.budget, timeline: shared.timeline, shared: shared,
        report: { [reportLog = shared.reportLog] in reportLog.add($0) }))
    // Two threads may reach this point. The first one enters its cache.
    let first = shared.openCaches.enter(cache, named: name, settings: settings, registration: registration)
    if first.member !== cache { partition?.unregister(format) }
    return try keep(first.member, settings: first.settings, named: name, ifLike: settings)
  }

  /// Returns the open cache with this name, which this store keeps alive from now on. Throws if its types or settings
  /// differ.
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

  /// The allowed lengths of a cache name, in bytes of UTF-8.
  package static let cacheNameLengths = 1...128

  private static func check<Value>(_ name: String, _ configuration: CacheConfiguration<Value>) throws(CisternError) {
    let location = "opening cache \"\(name)\""
    guard cacheNameLengths.contains(name.utf8.count) else {
      throw CisternError(
        .invalidArgument,
        "the cache name has \(name.utf8.count) bytes; it must have \(cacheNameLengths.lowerBound) to \(cacheNameLengths.upperBound)",
        location: location)
    }
    try configuration.check(location: location)
  }
}

extension Cache.StoreParts {
  /// Creates the parts of a store, or of a cache without a store if `shared` is nil.
  init(
    _ configuration: Store.Configuration, budget: MemoryBudget, timeline: WallTimeline,
    shared: (any Sendable & AnyObject)?, report: @escaping @Sendable (StoreReport) -> Void
  ) {
    self.budget = budget
    evictionPolicy = configuration.evictionPolicy
    self.timeline = timeline
    taskExecutor = configuration.taskExecutor
    shardCount = configuration.shardCount
    self.report = report
    self.shared = shared
  }
}
