extension SecondTierReader {
  /// Reads a key that is watched. If memory has no value, it asks the second tier and decodes: outside all locks.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - flight: The flight that the caller asks about.
  ///   - readsValue: Whether the caller needs the value, beside the version.
  /// - Returns: The state of the key.
  @inlinable
  func snapshot(
    of key: HashedKey<Key>, readBy flight: Flight<Value>? = nil, readsValue: Bool = true
  ) -> ReadSnapshot<Key, Value> {
    if readsValue, observers.isObserved { endUnnoticed(key, isCounted: true) }
    let watched = table.watched(
      key, readBy: flight, readsSecondTier: readsValue && secondTier != nil, readsEdits: !edits.isEmpty)
    defer { table.endRead(watched, of: key) }
    var snapshot = ReadSnapshot<Key, Value>(version: watched.version, flight: watched.isOwn ? flight : nil)
    if !edits.isEmpty, let edited = edits[key.key] {
      noteRead(edited.timing.tags, of: key, watched)
      add(edited, of: key, to: &snapshot)
      return snapshot
    }
    guard readsValue else { return snapshot }
    if let held = watched.held {
      if !held.isGone(at: lifetimes.now()) {
        add(held.value, held.timing, to: &snapshot)
      } else {
        return snapshotAfterExpiry(of: key, readBy: flight)
      }
    } else if let secondTier {
      guard let interpretation = interpretedRecord(of: key, in: secondTier) else {
        return snapshotPromotedConcurrently(of: key, readBy: flight) ?? snapshot
      }
      if case .usable(let found) = interpretation {
        noteRead(found.timing.tags, of: key, watched)
        add(found.value, found.timing, to: &snapshot)
      } else if case .foreign = interpretation {
        snapshot.hasForeignRecord = true
      } else {
        // A later read would announce the end of the record again, after the change that the caller makes.
        discard(interpretation, of: key, if: snapshot.condition)
      }
    }
    return snapshot
  }

  /// Reads the key again if memory has a value after the second tier had no record.
  ///
  /// As in a look-up, another reader may have promoted the value before the second tier evicted the record. A dependent
  /// write would otherwise replace that value as if the key were absent. A promotion does not change the version of the
  /// key.
  ///
  /// - Returns: The state of the key. Nil if memory has no value.
  @usableFromInline
  @inline(never)
  func snapshotPromotedConcurrently(
    of key: HashedKey<Key>, readBy flight: Flight<Value>?
  ) -> ReadSnapshot<Key, Value>? {
    table.peek(key) == nil ? nil : snapshot(of: key, readBy: flight)
  }

  /// Ends the value of an entry whose time is up, and reads the key again. Another process may have written or used the
  /// record since.
  @usableFromInline
  @inline(never)
  func snapshotAfterExpiry(of key: HashedKey<Key>, readBy flight: Flight<Value>?) -> ReadSnapshot<Key, Value> {
    endExpired(key)
    return snapshot(of: key, readBy: flight)
  }

  /// An invalidation that concerns a value with these tags changes the version of the key from now on.
  @inlinable
  func noteRead(_ tags: [String], of key: HashedKey<Key>, _ watched: EntryTable<Key, Value>.Watched) {
    table.noteRead(key, tags: tags, after: watched)
  }

  @inlinable
  func add(_ value: Value, _ timing: Timing, to snapshot: inout ReadSnapshot<Key, Value>) {
    snapshot.usable = value
    snapshot.shown = value
    snapshot.timing = timing
    if !timing.freshness(at: lifetimes.now()).isFresh { snapshot.isStale = true }
  }

  @usableFromInline
  func add(
    _ edited: EditedKeys<Key, Value>.Edited, of key: HashedKey<Key>, to snapshot: inout ReadSnapshot<Key, Value>
  ) {
    let freshness = edited.timing.freshness(at: lifetimes.clock.now())
    snapshot.usable = freshness == .gone ? nil : edited.queue.base
    if snapshot.usable == nil, let secondTier, case .foreign? = interpretedRecord(of: key, in: secondTier) {
      snapshot.hasForeignRecord = true
    }
    if !freshness.isFresh { snapshot.isStale = true }
    snapshot.timing = edited.timing
    snapshot.shown = edited.shown
    snapshot.edited = edited
  }

  /// Reads a key, and runs `body` in its critical section while the read still stands.
  func snapshot<Result>(of key: HashedKey<Key>, while body: () -> Result) -> (ReadSnapshot<Key, Value>, Result) {
    table.watch(key)
    defer { table.unwatch(key) }
    while true {
      let snapshot = snapshot(of: key)
      if let result = table.whileUnchanged(snapshot.version, of: key, body) { return (snapshot, result) }
    }
  }

  /// Reads a key, with the number of the newest change that the read includes.
  ///
  /// The number is read first. A change that ends the value without a new version, such as an eviction, may follow
  /// before the value is read. Such a change has a greater number.
  func numberedSnapshot(of key: HashedKey<Key>) -> (ReadSnapshot<Key, Value>, ChangeNumber) {
    table.watch(key)
    defer { table.unwatch(key) }
    while true {
      let version = table.watched(key).version
      guard let number = table.whileUnchanged(version, of: key, { observers.newestNumber }) else { continue }
      let snapshot = snapshot(of: key)
      if snapshot.version.hasSameValue(as: version), table.whileUnchanged(version, of: key, {}) != nil {
        return (snapshot, number)
      }
    }
  }
}
