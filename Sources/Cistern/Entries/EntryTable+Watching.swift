extension EntryTable {
  /// What a key has, and the version that a write may depend on.
  @usableFromInline
  struct Watched {
    /// What memory holds, expired or not.
    @usableFromInline let held: Held<Value>?
    @usableFromInline let version: KeyVersions.Version
    /// The newest invalidation at that time.
    @usableFromInline let era: UInt64
    /// Whether the entry is that of the flight that was asked about.
    @usableFromInline let isOwn: Bool

    @inlinable
    init(held: Held<Value>?, version: KeyVersions.Version, era: UInt64, isOwn: Bool) {
      self.held = held
      self.version = version
      self.era = era
      self.isOwn = isOwn
    }
  }

  /// Counts the key's writes from now on, until ``unwatch(_:)``.
  ///
  /// - Parameter era: the newest invalidation when a fetch began, if it is one that watches.
  @inlinable
  @discardableResult
  func watch(_ hash: UInt64, fetchedSince era: UInt64 = .max) -> KeyVersions.Version {
    shards.withShard(of: hash) { shard in
      shard.versions.watch(Self.fingerprint(hash), fetchedSince: era)
      return shard.versions[Self.fingerprint(hash)]?.version ?? KeyVersions.Version()
    }
  }

  @inlinable
  func unwatch(_ hash: UInt64) {
    let fingerprint = Self.fingerprint(hash)
    let read = shards.withShard(of: hash) { shard -> WatchedReads<Key>.Read? in
      shard.versions.unwatch(fingerprint)
      return shard.versions[fingerprint] == nil ? shard.reads.forget(fingerprint) : nil
    }
    // Its key is the user's: freed outside the lock.
    withExtendedLifetime(read) {}
  }

  /// A value of a watched key was read elsewhere than in memory, after the key was looked up in `watched`. An invalidation
  /// since `era` that concerns it changes the key's version at once, and a later one does so when it comes.
  @usableFromInline
  func noteRead(_ key: Key, hash: UInt64, tags: [String], version: KeyVersions.Version, since era: UInt64) {
    let fingerprint = Self.fingerprint(hash)
    shards.withShard(of: hash) { shard in
      guard shard.versions[fingerprint]?.version == version else { return }
      if era < shard.invalidations.newest, shard.invalidations.concerns(key, tags: tags, since: era) {
        shard.versions.note(.replacement, on: fingerprint)
      } else {
        shard.noteRead(key, tags: tags, fingerprint: fingerprint)
      }
    }
  }

  /// Runs `body` in the critical section of a key that is watched, if it has this version still; else nil.
  func whileUnchanged<Result>(_ version: KeyVersions.Version, hash: UInt64, _ body: () -> Result) -> Result? {
    shards.withShard(of: hash) { shard in
      shard.versions[Self.fingerprint(hash)]?.version == version ? body() : nil
    }
  }

  /// What a key that is watched has now. From now on, an invalidation that concerns the value changes the key's version.
  @inlinable
  func watched(_ key: Key, hash: UInt64, isOwnOf flight: Flight<Value>? = nil) -> Watched {
    let fingerprint = Self.fingerprint(hash)
    return shards.withShard(of: hash) { shard in
      let entry = shard.locate(key, fingerprint: fingerprint, budget: budget).map { shard.slots[$0].entry }
      let held = entry?.held
      if let held { shard.noteRead(key, tags: held.timing.tags, fingerprint: fingerprint) }
      return Watched(
        held: held, version: shard.versions[fingerprint]?.version ?? KeyVersions.Version(),
        era: shard.invalidations.newest, isOwn: flight.map { Entry.isOwn($0, entry) } ?? false)
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
