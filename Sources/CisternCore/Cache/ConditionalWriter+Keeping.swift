// The outcomes of a fetch that concern the stored value of its key.

extension ConditionalWriter {
  /// Gives the stored value a new lifetime, if the entry is still the flight's and the value still stands.
  ///
  /// The value may have left memory since it was read. The version of the key then tells whether it was invalidated.
  ///
  /// - Parameters:
  ///   - stored: The stored value.
  ///   - version: The version of the key before the value was read. The key is watched since.
  ///   - outcome: The outcome of the fetch.
  ///   - flight: The flight.
  ///   - key: The key.
  /// - Returns: Whether the value has a new lifetime. The flight has then left its entry.
  @usableFromInline
  func keep(
    _ stored: ReadValue<Value>, readAt version: KeyVersion, as outcome: FetchOutcome<Value>,
    of flight: Flight<Value>, for key: HashedKey<Key>
  ) -> Bool {
    let tags = outcome.tags ?? keptTags.namedTags(among: stored.timing.tags, of: stored.value)
    // First: the end of the value's lifetime removes its record.
    records.noticeExpiry(of: key)
    var encoded: EncodedValue<Value>?
    var kept: RecordIdentity?
    if let identity = stored.record {
      if let record = secondTier?.read(key.key) {
        let current = record.identity
        // Another process has replaced the record. Its value is newer than the one that the origin confirmed. A use of
        // the value does not replace it.
        guard current.isSame(butForUse: identity) else { return false }
        kept = current
        encoded = writes.encode(stored.value, keeping: record, of: key, expiry: outcome.expiry, tags: tags)
      } else if stored.timing.freshness(at: writes.lifetimes.clock.now()) != .gone {
        // The tier has evicted the record, or another process has removed it.
        return false
      }
    }
    let renewed = encoded ?? writes.encode(stored.value, for: key, expiry: outcome.expiry, tags: tags)
    var write = PreparedWrite<Key, Value>(
      renewed,
      options: StoringOptions(
        if: .keeping(flight, since: version), effect: effect(of: renewed, over: stored), isAnnounced: false))
    write.recordCondition = kept.map { .identity($0) }
    // Refused for a key with unconfirmed edits, too: the confirmed value below them keeps its lifetime.
    guard writes.apply(write, to: key) != nil else { return false }
    flight.noteStored(renewed.preparedValue?.timing)
    return true
  }

  /// Returns the effect of a new lifetime of the stored value.
  private func effect(of renewed: EncodedValue<Value>, over stored: ReadValue<Value>) -> WriteEffect {
    if renewed.removesKey { return .replacement }
    return renewed.preparedValue?.timing.tags == stored.timing.tags ? .maintenance : .addition
  }

  /// Removes the value of a key because its fetch says so, if the entry is still the flight's.
  ///
  /// - Returns: Whether the value was removed. The flight has then left its entry.
  @usableFromInline
  func removeFetched(_ key: HashedKey<Key>, by flight: Flight<Value>) -> Bool {
    remove(key, if: .own(flight), context: nil) != nil || removeBelowEdits(key, by: flight)
  }

  /// Removes the confirmed value below unconfirmed edits, or the value of a key whose edits have ended since they
  /// prevented its removal.
  ///
  /// - Returns: Whether the value was removed. False if the entry is not the flight's any more.
  private func removeBelowEdits(_ key: HashedKey<Key>, by flight: Flight<Value>) -> Bool {
    guard table.flight(of: key) === flight else { return false }
    table.watch(key)
    defer { table.unwatch(key) }
    while true {
      var snapshot = records.snapshot(of: key, readBy: flight)
      guard snapshot.flight != nil else { return false }
      // As without edits, the outcome removes also a record of a newer schema version.
      snapshot.hasForeignRecord = false
      let options = ReplacementOptions(WriteOptions())
      if let edited = snapshot.edited {
        let write = optimisticEdits.prepare(nil, below: edited, replacing: snapshot, of: key, options: options)
        if writes.apply(write, to: key) != nil { return true }
      } else if compareAndSet(.remove, of: key, replacing: snapshot, options: options) != nil {
        return true
      }
    }
  }

  /// Returns the value that callers get for one that a fetch announces: merged with the cached value, and with the
  /// unconfirmed edits of the key. Returns nil if they show no value.
  func shownValue(of incoming: Value, for key: HashedKey<Key>) -> Value? {
    if case .shows(let shown) = optimisticEdits.view(over: incoming, of: key.key) { return shown }
    guard merge != nil, let stored = records.storedValue(of: key) else { return incoming }
    // `merged` has reported the error. The caller learns only that the value was not announced.
    return try? merged(incoming, over: stored.value, for: key.key)
  }
}
