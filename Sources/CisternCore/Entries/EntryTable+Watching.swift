import Eviction

extension EntryTable {
  /// The value of a watched key, and the version that a dependent write compares.
  @usableFromInline
  struct Watched {
    /// The value in memory, expired or not.
    @usableFromInline let held: CachedValue<Value>?
    @usableFromInline let version: KeyVersion
    /// The invalidation version when the key was read.
    @usableFromInline let invalidationVersion: InvalidationVersion
    /// The number of removals of all keys when the key was read.
    @usableFromInline let versionOfAll: WriteVersion
    /// Whether the entry belongs to the flight that the caller asked about.
    @usableFromInline let isOwn: Bool
    /// Whether the table keeps the invalidations from now on, until the caller ends its read.
    @usableFromInline var keepsInvalidations = false

    @inlinable
    init(
      held: CachedValue<Value>?, version: KeyVersion, invalidationVersion: InvalidationVersion,
      versionOfAll: WriteVersion, isOwn: Bool
    ) {
      self.held = held
      self.version = version
      self.invalidationVersion = invalidationVersion
      self.versionOfAll = versionOfAll
      self.isOwn = isOwn
    }
  }

  /// Returns the state of a key; nil if no writer watches it.
  @inlinable
  @inline(__always)
  func watchedState(of key: HashedKey<Key>, in shard: inout Shard<Key, Value>) -> WatchedKey? {
    shard.versions.isEmpty ? nil : shard.versions[key]
  }

  /// Starts to count the key's writes, until ``unwatch(_:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - invalidationVersion: The invalidation version when the reader began; the maximum for a writer.
  /// - Returns: The watched version of the key now.
  @inlinable
  @discardableResult
  func watch(_ key: HashedKey<Key>, readSince invalidationVersion: InvalidationVersion = .max) -> KeyVersion {
    shards.withShard(of: key.hash) { $0.versions.watch(key, readSince: invalidationVersion) }
  }

  /// Ends a watch of ``watch(_:readSince:)``.
  @inlinable
  func unwatch(_ key: HashedKey<Key>, as watcher: KeyWatcher = .writer) {
    let forgotten = shards.withShard(of: key.hash) { shard -> (watched: HashedKey<Key>, read: HashedKey<Key>?)? in
      guard let watched = shard.versions.unwatch(key, as: watcher) else { return nil }
      return (watched, shard.reads.forget(key))
    }
    // A user's keys, which must be destroyed outside the lock.
    withExtendedLifetime(forgotten) {}
  }

  /// Notes that a writer read a watched key's value outside memory, after it called ``watched(_:readBy:)``.
  ///
  /// If an invalidation after `invalidationVersion` concerns the value, the key's watched version changes now. A later
  /// invalidation changes the version when it is added.
  @usableFromInline
  func noteRead(
    _ key: HashedKey<Key>, tags: [String], version: KeyVersion, since invalidationVersion: InvalidationVersion
  ) {
    shards.withShard(of: key.hash) { $0.noteRead(key, tags: tags, version: version, since: invalidationVersion) }
  }

  /// Notes that a writer read a watched key's value outside memory, after it called ``watched(_:readBy:)``.
  ///
  /// A removal of all keys in place of an invalidation is no invalidation to compare with. If one came since, the key's
  /// watched version changes now.
  @usableFromInline
  func noteRead(_ key: HashedKey<Key>, tags: [String], after watched: Watched) {
    shards.withShard(of: key.hash) { shard in
      if shard.versionOfAll == watched.versionOfAll {
        shard.noteRead(key, tags: tags, version: watched.version, since: watched.invalidationVersion)
      } else if shard.versions.hasValue(of: watched.version, for: key) {
        shard.versions.noteRemovedRead(of: key)
      }
    }
  }

  /// Runs `body` in the key's critical section if the watched key still has this version. Otherwise returns nil.
  func whileUnchanged<Result>(_ version: KeyVersion, of key: HashedKey<Key>, _ body: () -> Result) -> Result? {
    shards.withShard(of: key.hash) { shard in
      shard.versions.hasValue(of: version, for: key) ? body() : nil
    }
  }

  /// Reads a watched key. From now on, an invalidation that concerns the value changes the key's watched version.
  ///
  /// A caller that reads on elsewhere compares its value with the invalidations since. The table keeps these until
  /// ``endRead(_:of:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - flight: The flight that the caller asks about.
  ///   - readsSecondTier: Whether the caller reads the second tier if memory has no value.
  ///   - readsEdits: Whether the caller reads the unconfirmed edits of the key if it has some.
  /// - Returns: The state of the key.
  @inlinable
  func watched(
    _ key: HashedKey<Key>, readBy flight: Flight<Value>? = nil, readsSecondTier: Bool = false, readsEdits: Bool = false
  ) -> Watched {
    shards.withShard(of: key.hash) { shard in
      let entry = shard.locate(key.key, fingerprint: key.fingerprint, budget: budget).map { shard.slots[$0].entry }
      let held = entry?.held
      if let held { shard.noteRead(key, tags: held.timing.tags) }
      var watched = Watched(
        held: held, version: shard.versions[key]?.version ?? KeyVersion(),
        invalidationVersion: shard.invalidations.newest, versionOfAll: shard.versionOfAll,
        isOwn: flight.map { Entry.isOwn($0, entry) } ?? false)
      if readsSecondTier && held == nil || readsEdits && shard.versions[key]?.isEdited == true {
        shard.versions.watch(key, readSince: shard.invalidations.newest)
        watched.keepsInvalidations = true
      }
      return watched
    }
  }

  /// Ends a read that ``watched(_:readBy:readsSecondTier:readsEdits:)`` began.
  @inlinable
  func endRead(_ watched: Watched, of key: HashedKey<Key>) {
    if watched.keepsInvalidations { unwatch(key, as: .reader) }
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
