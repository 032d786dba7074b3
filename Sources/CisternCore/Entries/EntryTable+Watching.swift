import Eviction

extension EntryTable {
  /// The value of a watched key, and the version that a dependent write compares.
  @usableFromInline
  struct Watched {
    /// The value in memory, expired or not.
    @usableFromInline let held: CachedValue<Value>?
    @usableFromInline let version: KeyVersions.Version
    /// The invalidation version when the key was read.
    @usableFromInline let invalidationVersion: InvalidationVersion
    /// Whether the entry belongs to the flight that the caller asked about.
    @usableFromInline let isOwn: Bool

    @inlinable
    init(held: CachedValue<Value>?, version: KeyVersions.Version, invalidationVersion: InvalidationVersion, isOwn: Bool)
    {
      self.held = held
      self.version = version
      self.invalidationVersion = invalidationVersion
      self.isOwn = isOwn
    }
  }

  /// Returns the state of a key; nil if no writer watches it. The edits of another key with its fingerprint do not count.
  @inlinable
  @inline(__always)
  func watchedState(of key: HashedKey<Key>, in shard: inout Shard<Key, Value>) -> KeyVersions.Watched? {
    guard !shard.versions.isEmpty, var watched = shard.versions[key.fingerprint] else { return nil }
    if watched.isEdited, !isEdited(key.key) { watched.editedCount = 0 }
    return watched
  }

  /// Starts to count the key's writes, until ``unwatch(_:)``.
  ///
  /// - Parameters:
  ///   - hash: The hash of the key.
  ///   - invalidationVersion: The invalidation version when the watching fetch began; the maximum if the watcher is not
  ///     a fetch.
  /// - Returns: The watched version of the key now.
  @inlinable
  @discardableResult
  func watch(_ hash: UInt64, fetchedSince invalidationVersion: InvalidationVersion = .max) -> KeyVersions.Version {
    shards.withShard(of: hash) { shard in
      shard.versions.watch(Self.fingerprint(hash), fetchedSince: invalidationVersion)
      return shard.versions[Self.fingerprint(hash)]?.version ?? KeyVersions.Version()
    }
  }

  /// Ends a watch of ``watch(_:fetchedSince:)``.
  @inlinable
  func unwatch(_ hash: UInt64) {
    let fingerprint = Self.fingerprint(hash)
    let read = shards.withShard(of: hash) { shard -> WatchedReads<Key>.Read? in
      shard.versions.unwatch(fingerprint)
      return shard.versions[fingerprint] == nil ? shard.reads.forget(fingerprint) : nil
    }
    // The read contains a user's key, which must be destroyed outside the lock.
    withExtendedLifetime(read) {}
  }

  /// Notes that a writer read a watched key's value outside memory, after it called ``watched(_:hash:isOwnOf:)``.
  ///
  /// If an invalidation after `invalidationVersion` concerns the value, the key's watched version changes now. A later
  /// invalidation changes the version when it is added.
  @usableFromInline
  func noteRead(
    _ key: Key, hash: UInt64, tags: [String], version: KeyVersions.Version,
    since invalidationVersion: InvalidationVersion
  ) {
    let fingerprint = Self.fingerprint(hash)
    shards.withShard(of: hash) { shard in
      guard shard.versions.hasValue(of: version, for: fingerprint) else { return }
      if invalidationVersion < shard.invalidations.newest,
        shard.invalidations.concerns(key, tags: tags, since: invalidationVersion)
      {
        shard.versions.note(.replacement, on: fingerprint)
      } else {
        shard.noteRead(key, tags: tags, fingerprint: fingerprint)
      }
    }
  }

  /// Runs `body` in the key's critical section if the watched key still has this version. Otherwise returns nil.
  func whileUnchanged<Result>(_ version: KeyVersions.Version, hash: UInt64, _ body: () -> Result) -> Result? {
    shards.withShard(of: hash) { shard in
      shard.versions.hasValue(of: version, for: Self.fingerprint(hash)) ? body() : nil
    }
  }

  /// Reads a watched key. From now on, an invalidation that concerns the value changes the key's watched version.
  @inlinable
  func watched(_ key: Key, hash: UInt64, isOwnOf flight: Flight<Value>? = nil) -> Watched {
    let fingerprint = Self.fingerprint(hash)
    return shards.withShard(of: hash) { shard in
      let entry = shard.locate(key, fingerprint: fingerprint, budget: budget).map { shard.slots[$0].entry }
      let held = entry?.held
      if let held { shard.noteRead(key, tags: held.timing.tags, fingerprint: fingerprint) }
      return Watched(
        held: held, version: shard.versions[fingerprint]?.version ?? KeyVersions.Version(),
        invalidationVersion: shard.invalidations.newest, isOwn: flight.map { Entry.isOwn($0, entry) } ?? false)
    }
  }
}

extension EntryTable {
  /// The number of keys that are watched, or whose reads are kept. For checks.
  package var watchedCount: Int {
    (0..<shards.count).reduce(0) { sum, index in
      sum + shards.withShard(at: index) { max($0.versions.count, $0.reads.count) }
    }
  }
}
