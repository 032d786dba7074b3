// The older values that loads return if their fetch fails or takes too long.

extension Loader {
  /// Returns the older value of a wait while it is in grace and no invalidation since the look-up concerns it.
  ///
  /// - Parameters:
  ///   - wait: The wait.
  ///   - key: The key.
  /// - Returns: The older value; nil if no caller may get one.
  func fallback(of wait: Wait<Value>, _ key: HashedKey<Key>) -> Value? {
    let waitLimits = wait.waitLimits
    guard let older = waitLimits.instead, older.canReplaceFetch(at: lifetimes.now()),
      !table.isInvalidated(older, of: key, since: waitLimits.invalidationVersion)
    else { return nil }
    return older.value
  }

  /// Returns the older value of a wait whose time is up, if the key was not written or removed since the look-up.
  ///
  /// A write, a removal or a clear takes the entry from the flight, so the entry shows it. A flight that has stored its own
  /// value meanwhile does not take the older one from a caller whose time is up.
  ///
  /// - Parameters:
  ///   - wait: The wait.
  ///   - key: The key.
  /// - Returns: The older value; nil if no caller may get one.
  func currentFallback(of wait: Wait<Value>, _ key: HashedKey<Key>) -> Value? {
    guard let value = fallback(of: wait, key) else { return nil }
    if table.isOwn(wait.flight, of: key) { return value }
    return wait.flight.isCompleted && !wait.flight.isDisowned ? value : nil
  }
}

extension EntryTable {
  /// Returns whether the entry of a key belongs to a flight.
  func isOwn(_ flight: Flight<Value>, of key: HashedKey<Key>) -> Bool {
    shards.withShard(of: key.hash) { shard in
      let number = shard.slots.find(key.key, fingerprint: Self.fingerprint(key.hash))
      return Entry.isOwn(flight, number.map { shard.slots[$0].entry })
    }
  }

  /// Returns whether an invalidation that is newer than a version concerns a value.
  func isInvalidated(
    _ value: CachedValue<Value>, of key: HashedKey<Key>, since invalidationVersion: InvalidationVersion
  ) -> Bool {
    shards.withShard(of: key.hash) { shard in
      shard.invalidations.concerns(key.key, tags: value.timing.tags, since: invalidationVersion)
    }
  }
}
