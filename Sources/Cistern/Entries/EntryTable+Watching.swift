extension EntryTable {
  /// What a key has, and the version that a write may depend on.
  @usableFromInline
  struct Watched {
    /// What memory holds, expired or not.
    @usableFromInline let held: Held<Value>?
    @usableFromInline let version: KeyVersions.Version
    /// Whether the entry is that of the flight that was asked about.
    @usableFromInline let isOwn: Bool

    @inlinable
    init(held: Held<Value>?, version: KeyVersions.Version, isOwn: Bool) {
      self.held = held
      self.version = version
      self.isOwn = isOwn
    }
  }

  /// Counts the key's writes from now on, until ``unwatch(_:)``.
  @inlinable
  @discardableResult
  func watch(_ hash: UInt64) -> KeyVersions.Version {
    shards.withShard(of: hash) { shard in
      shard.versions.watch(Self.fingerprint(hash))
      return shard.versions[Self.fingerprint(hash)]?.version ?? KeyVersions.Version()
    }
  }

  @inlinable
  func unwatch(_ hash: UInt64) {
    shards.withShard(of: hash) { $0.versions.unwatch(Self.fingerprint(hash)) }
  }

  /// Runs `body` in the critical section of a key that is watched, if it has this version still; else nil.
  func whileUnchanged<Result>(_ version: KeyVersions.Version, hash: UInt64, _ body: () -> Result) -> Result? {
    shards.withShard(of: hash) { shard in
      shard.versions[Self.fingerprint(hash)]?.version == version ? body() : nil
    }
  }

  /// What a key that is watched has now.
  @inlinable
  func watched(_ key: Key, hash: UInt64, isOwnOf flight: Flight<Value>? = nil) -> Watched {
    let fingerprint = Self.fingerprint(hash)
    return shards.withShard(of: hash) { shard in
      let entry = shard.locate(key, fingerprint: fingerprint, budget: budget).map { shard.slots[$0].entry }
      let held = entry?.held
      return Watched(
        held: held, version: shard.versions[fingerprint]?.version ?? KeyVersions.Version(),
        isOwn: flight.map { Entry.isOwn($0, entry) } ?? false)
    }
  }
}

extension EntryTable {
  /// The number of keys that are watched. For checks.
  package var watchedCount: Int {
    (0..<shards.count).reduce(0) { sum, index in sum + shards.withShard(at: index) { $0.versions.count } }
  }
}
