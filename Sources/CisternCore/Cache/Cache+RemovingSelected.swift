// The removal of the keys that a closure selects.

extension Cache {
  /// Removes every key for which `isRemoved` returns true, one after the other, from both tiers.
  ///
  /// The closure receives the keys that have a value, fresh or in grace, and those that are being fetched or edited. A
  /// fetch of a selected key that was in progress when the call began is not stored, and its waiters get the value.
  /// Keys that are stored during the call may stay. The call ends expired values, as a look-up does. If a tag or a
  /// prefix covers the keys, ``removeAll(tagged:context:)`` and `removeAll(withPrefix:)` visit no key.
  ///
  /// If the second tier cannot be read, its keys are unknown. The call then removes all records of the cache from it
  /// instead, and sends a ``StoreReport``. Memory keeps the values for which `isRemoved` returned false. Observers
  /// receive ``Change/Event/cleared``, and these values again.
  ///
  /// - Parameters:
  ///   - isRemoved: The closure that chooses the keys. It is called outside all locks and transactions, once for a key.
  ///   - context: The writer, for ``Change/context``.
  /// - Returns: The number of removed keys, without those that could not be read. A key counts if it had a value, fresh
  ///   or in grace. A key that was only being fetched does not count. Neither does a key whose record a newer schema
  ///   version wrote. That record is removed, and the key was absent for readers and observers.
  /// - Throws: The error of `isRemoved`. Keys that were removed before stay removed.
  /// - Complexity: O(*n*) for *n* keys, on the calling thread. The disk is read in small steps, and then once for each
  ///   key that memory does not hold.
  @discardableResult
  public func removeAll(where isRemoved: (Key) throws -> Bool, context: WriterContext? = nil) rethrows -> Int {
    // The value of a key in progress is in no tier yet. A removal prevents that it is stored.
    let fetched = Set(table.keys { $0.flight != nil }.map(table.hashed))
    let (stored, isComplete) = storedKeys()
    var count = 0
    for key in stored.union(fetched) {
      let status = stored.contains(key) ? currentStatus(of: key) : .absent
      guard status != .absent || fetched.contains(key), try isRemoved(key.key) else { continue }
      removeValue(forKey: key.key, context: context)
      if status == .present { count += 1 }
    }
    if !isComplete { removeUnlistedRecords() }
    return count
  }

  private enum KeyStatus {
    /// The key has a value, fresh or in grace, or a confirmed one below unconfirmed edits.
    case present
    /// Readers take the key for absent, but it has unconfirmed edits or may have a record.
    ///
    /// Such a record has a newer schema version, or the tier cannot read it now.
    case hidden
    /// No reader finds the key.
    case absent
  }

  /// Returns the keys of both tiers, and whether the second tier could list all of its keys.
  ///
  /// Keys without a value can be among them: for example, a listed record whose staged removal is committed during the
  /// list. A key with its hash is found also if it does not equal itself.
  private func storedKeys() -> (keys: Set<HashedKey<Key>>, isComplete: Bool) {
    // Opened before memory is read: it gets the keys whose records the tier loses until then, and that memory alone
    // holds.
    let token = table.walks.open()
    var keys = Set(keysInMemory.map(table.hashed))
    guard let secondTier else { return (keys, true) }
    // Staged keys first: a key that is committed in between is found among the committed ones.
    for bytes in secondTier.partition.stagedKeys {
      if let key = secondTier.key(bytes) { keys.insert(table.hashed(key)) }
    }
    let isComplete = secondTier.partition.listRecords { bytes, _, _ in
      if let key = secondTier.key(bytes.copiedBytes()) { keys.insert(table.hashed(key)) }
      return true
    }
    keys.formUnion(lostKeys(of: secondTier, since: token).map(table.hashed))
    return (keys, isComplete)
  }

  /// The keys in memory, and those with unconfirmed edits. A value that an edit shows need not be in memory.
  private var keysInMemory: [Key] { table.keys() + edits.keys }

  /// Returns the keys that memory may hold alone since the token was opened, after the records are listed.
  ///
  /// The order matters, as in an enumeration: a key leaves the lost keys of the tier after it is in the list of the
  /// token.
  private func lostKeys(of secondTier: SecondTierBinding<Key>, since token: WalkToken) -> [Key] {
    let partition = secondTier.partition
    let hasLostFile = partition.hasLostFile
    let pending = partition.lostKeys
    let losses = token.losses
    let keys = (pending + losses.keys).compactMap { secondTier.key($0) }
    let isListed = !hasLostFile && partition.listsLostKeys && losses.lossesOfAll == 0
    return isListed ? keys : keys + keysInMemory
  }

  /// Returns whether a key has a value now. Ends an expired one.
  private func currentStatus(of hashed: HashedKey<Key>) -> KeyStatus {
    let key = hashed.key
    // The look also removes an entry of memory that a tag or a prefix has invalidated.
    if let held = table.peek(hashed), !held.isGone(at: now()) { return .present }
    if !edits.isEmpty, let edited = edits[key] {
      let hasConfirmed = edited.queue.base != nil && edited.timing.freshness(at: clock.now()) != .gone
      return edited.shown != nil || hasConfirmed ? .present : .hidden
    }
    records.endUnnoticed(hashed, isCounted: true)
    guard let secondTier else { return .absent }
    let bytes = secondTier.bytes(key)
    guard let metadata = secondTier.partition.metadata(of: bytes.rawSpan) else {
      // A record that the tier could not read would be back later.
      let isAbsent = writes.presence(of: bytes) == .absent || secondTier.partition.isLost(bytes.rawSpan)
      return isAbsent ? .absent : .hidden
    }
    if metadata.schemaVersion > writes.schemaVersion { return .hidden }
    return loader.lifetimes.isGone(metadata) ? .absent : .present
  }

  /// Removes all records of the second tier in place of those that it could not list. Otherwise, they would be readable
  /// again when the tier is.
  private func removeUnlistedRecords() {
    guard let partition = secondTier?.partition, partition.mode != .closed else { return }
    partition.requireRemovalOfAll()
    writes.deliverChanges()
    writes.reports.send(
      StoreReport(
        .degraded,
        "the keys on disk could not be read for a removal by a condition; all records of the cache were removed from the disk",
        location: writes.reports.location))
  }
}
