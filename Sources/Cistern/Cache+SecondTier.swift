import Synchronization

// How a record of the second tier becomes a value in memory, or is discarded.

/// What a record is worth.
@usableFromInline
enum Interpretation<Value: Sendable> {
  /// A value that may be returned, and put into memory.
  case usable(Arrival<Value>)
  /// Past its time.
  case expired
  /// Not what the codec wrote, or of an older kind.
  case undecodable
}

extension Cache {
  /// Decodes a record, outside all locks and transactions.
  @inlinable
  func interpret(_ record: SecondTierBinding<Key>.StoredRecord, forKey key: Key) -> Interpretation<Value> {
    guard let codec else { return .undecodable }
    guard let timing = timing(of: record.metadata) else { return .expired }
    do {
      let value = try codec.decode(record.bytes)
      return .usable(Arrival(value: value, cost: max(1, record.metadata.cost), timing: timing))
    } catch {
      report(
        StoreReport(
          .notDecodable, "a record could not be decoded and was removed; it is fetched again when it is wanted",
          location: location(of: key), cause: error))
      return .undecodable
    }
  }

  /// Puts a value of the second tier into memory, with the cost and the lifetime that it was stored with. As a rule no
  /// change: the key had this value before.
  ///
  /// - Parameter count: run once, inside the critical section.
  @inlinable
  func promote(
    _ arrival: Arrival<Value>, forKey key: Key, hash: UInt64, if condition: WriteCondition<Value>,
    count: (inout ShardCounters) -> Void = { _ in }
  ) {
    // It would leave the key as it is: absent.
    if case .untouched = condition, !table.canHold(arrival.cost) { return table.count(hash, count) }
    // The key's bytes before the critical section: they are made by the user's code.
    var keyBytes: [UInt8]?
    if case .own = condition, observers.isObserved { keyBytes = secondTier?.bytes(key) }
    table.write(
      arrival, forKey: key, hash: hash, if: condition, effect: .upkeep, count: count
    ) { _, isHeld in
      guard let keyBytes, !isPersisted(keyBytes) else { return true }
      // The record has left the tier since it was read, and observers know. In memory it is there again.
      if isHeld { observers.record(.inserted(key, arrival.value)) }
      return false
    }
    deliverChanges()
  }

  /// Removes a record that cannot be used, unless the key was written meanwhile.
  @usableFromInline
  func discard(
    _ record: SecondTierBinding<Key>.StoredRecord, forKey key: Key, hash: UInt64, if condition: WriteCondition<Value>
  ) {
    guard let secondTier else { return }
    let keyBytes = secondTier.bytes(key)
    let hasExpired = timing(of: record.metadata) == nil
    func commit() {
      // It may have left the tier since it was read, and observers know.
      let isThere = observers.isObserved && isPersisted(keyBytes)
      _ = secondTier.partition.stage(.removal(key: keyBytes))
      if isThere { observers.record(.removed(key, hasExpired ? .expired : .lost)) }
    }
    let discarded: Bool
    switch condition {
    case .own(let flight):
      discarded = table.whileOwn(flight, forKey: key, hash: hash, commit)
    case .always, .unedited, .unchanged, .untouched, .expired:
      discarded = table.write(nil, forKey: key, hash: hash, if: condition, effect: .upkeep) { _, _ in
        commit()
        return false
      }
    }
    if discarded { table.count(hash) { if hasExpired { $0.expirations += 1 } else { $0.notDecodable += 1 } } }
    deliverChanges()
  }

  /// Ends an entry of memory whose time is up, in both tiers, unless somebody else already has.
  @usableFromInline
  func endExpired(_ key: Key, hash: UInt64) {
    let keyBytes = secondTier?.bytes(key)
    let ended = table.write(nil, forKey: key, hash: hash, if: .expired(at: now()), effect: .upkeep) { _, _ in
      if let secondTier, let keyBytes { _ = secondTier.partition.stage(.removal(key: keyBytes)) }
      if observers.isObserved { observers.record(.removed(key, .expired)) }
      return false
    }
    if ended { table.count(hash) { $0.expirations += 1 } }
    deliverChanges()
  }

  /// Keys left the second tier without being asked to. Called by the tier, outside all locks and transactions.
  func departed(_ departures: [Departure]) {
    guard let secondTier else { return }
    for departure in departures {
      guard let key = secondTier.key(departure.key) else { continue }
      let hash = EntryTable<Key, Value>.hash(key)
      if case .evicted = departure.cause { table.count(hash) { $0.diskEvictions += 1 } }
      table.departed(key, hash: hash) {
        secondTier.partition.endDeparture(of: departure.key.rawSpan)
      } commit: {
        guard observers.isObserved, case nil = shownByEdits(key) else { return }
        switch departure.cause {
        case .evicted: observers.record(.removed(key, .evicted))
        case .damaged, .notWritten: observers.record(.removed(key, .lost))
        }
      }
    }
    deliverChanges()
  }

  /// Whether a record's value may not be returned to those who want a fresh one.
  @usableFromInline
  func isExpired(_ metadata: RecordMetadata) -> Bool {
    guard metadata.expires != nil || metadata.idle != 0 else { return false }
    guard let timing = timing(of: metadata) else { return true }
    if case .stale = timing.freshness(at: clock.now()) { return true }
    return false
  }

  /// How long a record's value is good for in memory; nil if it is gone.
  @usableFromInline
  func timing(of metadata: RecordMetadata) -> Timing? {
    if metadata.expires == nil, metadata.idle == 0, metadata.tags.isEmpty { return .plain(until: .distantFuture) }
    let now = clock.now()
    let timing = Timing(of: metadata, wallNow: timeline.time(clock.wallTime(), now: now), now: now)
    if let timing, !timing.isForever { hasDeadlines.store(true, ordering: .relaxed) }
    return timing
  }

  /// Tells observers what was recorded. To be called after every critical section that may have recorded something.
  @inlinable
  func deliverChanges() {
    if observers.isObserved { observers.deliver() }
  }

  @usableFromInline
  func location(of key: Key) -> String { "cache \"\(name)\", key \(key)" }
}
