import Synchronization

// How a record of the second tier becomes a value in memory, or is discarded.

/// What a record is worth.
@usableFromInline
enum Interpretation<Value: Sendable> {
  /// A value that may be returned, and put into memory; the record is to be written again where that is given.
  case usable(Arrival<Value>, rewriting: Rewriting?)
  /// Nothing, for this reason: the record is to be removed.
  case worthless(Worthlessness, RecordIdentity)
  /// Nothing, but it is not this cache's to remove: a newer version of the schema wrote it.
  case foreign
}

/// Why a record is removed when it is read.
@usableFromInline
enum Worthlessness: Sendable {
  /// Past its time.
  case expired
  /// Not what the codec wrote.
  case undecodable
  /// Of an older version of the schema, and not migrated.
  case outdated
}

/// The outcome of putting a value of the second tier into memory.
@usableFromInline
enum Promotion: Sendable {
  /// Memory has the value, or would not hold it.
  case done
  /// The key was written or invalidated since the record was read.
  case overtaken
  /// The second tier has lost the record since it was read.
  case hasLeft
}

extension Cache {
  /// Decodes a record, outside all locks and transactions.
  @inlinable
  func interpret(_ record: StoredRecord, forKey key: Key) -> Interpretation<Value> {
    guard let codec else { return .worthless(.undecodable, record.identity) }
    guard record.metadata.schemaVersion == schemaVersion else { return interpretOther(record, forKey: key) }
    let metadata = record.metadata
    guard let timing = table.retryPauses.isEmpty ? timing(of: metadata) : timing(of: metadata, pausedFor: key) else {
      return .worthless(.expired, record.identity)
    }
    do {
      let value = try codec.decode(record.bytes, isNegative: record.metadata.isNegative)
      return .usable(
        Arrival(value: value, cost: max(1, record.metadata.cost), timing: timing),
        rewriting: record.metadata.idle == 0 ? nil : rewritingUse(record, timing: timing, forKey: key))
    } catch {
      report(
        StoreReport(
          .notDecodable, "a record could not be decoded and was removed; it is fetched again when it is wanted",
          location: location(of: key), cause: error))
      return .worthless(.undecodable, record.identity)
    }
  }

  /// Puts a value of the second tier into memory, with the cost and the lifetime that it was stored with. As a rule no
  /// change: the key had this value before.
  ///
  /// - Parameters:
  ///   - rewriting: the record to write in the place of the one that was read.
  ///   - isNeeded: whether somebody is to find it there: then memory's policy is not asked.
  ///   - count: run once, inside the critical section.
  @inlinable
  @discardableResult
  func promote(
    _ arrival: Arrival<Value>, rewriting: Rewriting? = nil, forKey key: Key, hash: UInt64,
    if condition: WriteCondition<Value>, isNeeded: Bool = false,
    count: (inout ShardCounters) -> Void = { _ in }
  ) -> Promotion {
    // It would leave the key as it is: absent.
    if case .untouched = condition, rewriting == nil, !table.canHold(arrival.cost) {
      table.count(hash, count)
      return .done
    }
    if let rewriting, rewriting.isMigration { secondTier?.partition.waitForRoom() }
    // Made before the critical section, by the user's code.
    let keyBytes = mayHaveLeft(condition.witness) ? secondTier?.bytes(key) : nil
    var isMigrated = false
    var hasLeft = false
    let isCurrent = table.write(
      arrival, forKey: key, hash: hash, if: condition, effect: .upkeep, isNeeded: isNeeded,
      unless: {
        hasLeft = mayHaveLeft(condition.witness) && self.hasLeft(keyBytes, since: condition.witness)
        return hasLeft
      }, count: count
    ) { _, isHeld, _ in
      guard let rewriting, let secondTier else { return true }
      // As old as the record that was read.
      switch secondTier.partition.stage(rewriting.staged, replacing: rewriting.replaced) {
      case .staged:
        isMigrated = rewriting.isMigration
        return true
      case .refused:
        if !isHeld, observers.isObserved { observers.record(.removed(key, .refused)) }
        return false
      }
    }
    if isMigrated { table.count(hash) { $0.migrated += 1 } }
    deliverChanges()
    return isCurrent ? .done : hasLeft ? .hasLeft : .overtaken
  }

  /// Whether the second tier may have lost a record since it was read, for this flight if one is given.
  @inlinable
  func mayHaveLeft(_ witness: Flight<Value>?) -> Bool {
    (secondTier?.partition.hasDepartures ?? false) || (witness?.recordHasDeparted ?? false)
  }

  /// Whether the second tier has lost the record that was read of a key. Asked in the key's critical section.
  ///
  /// Another reader may have found the key absent since. A promotion would bring the value back.
  ///
  /// - Parameters:
  ///   - keyBytes: the key's bytes; nil if nothing had left before the critical section. The answer is then yes.
  ///   - witness: the flight that the record was read for, if any.
  @usableFromInline
  func hasLeft(_ keyBytes: [UInt8]?, since witness: Flight<Value>?) -> Bool {
    guard let keyBytes, let secondTier else { return true }
    if secondTier.partition.isDeparting(keyBytes.rawSpan) { return true }
    return (witness?.recordHasDeparted ?? false) && !isPersisted(keyBytes)
  }

  /// Removes a record that cannot be used, unless the key was written meanwhile. One that is usable, or not the cache's to
  /// remove, stays.
  @usableFromInline
  func discard(
    _ interpretation: Interpretation<Value>, forKey key: Key, hash: UInt64, if condition: WriteCondition<Value>
  ) {
    guard let secondTier, case .worthless(let reason, let record) = interpretation else { return }
    let keyBytes = secondTier.bytes(key)
    func commit() {
      // It may have left the tier since it was read, and observers know.
      let isThere = observers.isObserved && isPersisted(keyBytes)
      _ = secondTier.partition.stage(.removal(key: keyBytes), replacing: record)
      if isThere { observers.record(.removed(key, reason.cause)) }
    }
    let discarded: Bool
    switch condition {
    case .own(let flight):
      discarded = table.whileOwn(flight, forKey: key, hash: hash, commit)
    case .always, .unedited, .unchanged, .untouched, .expired, .beside:
      discarded = table.write(nil, forKey: key, hash: hash, if: condition, effect: .upkeep) { _, _, _ in
        commit()
        return false
      }
    }
    if discarded { table.count(hash) { reason.count(in: &$0) } }
    deliverChanges()
  }

  /// Ends an entry of memory whose time is up, in both tiers, unless somebody else already has.
  @usableFromInline
  func endExpired(_ key: Key, hash: UInt64) {
    let keyBytes = secondTier?.bytes(key)
    let ended = table.write(nil, forKey: key, hash: hash, if: .expired(at: now()), effect: .upkeep) { had, _, _ in
      if let secondTier, let keyBytes { _ = secondTier.partition.stage(.removal(key: keyBytes)) }
      if observers.isObserved { observers.record(.removed(key, .expired), tags: had?.timing.tags ?? []) }
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
      let hash = table.hash(key)
      if case .evicted = departure.cause { table.count(hash) { $0.diskEvictions += 1 } }
      table.departed(key, hash: hash) {
        secondTier.partition.endDeparture(of: departure.key.rawSpan)
      } commit: {
        // Readers and observers take a newer schema's record for absent.
        guard observers.isObserved, departure.schemaVersion <= schemaVersion, case nil = shownByEdits(key) else {
          return
        }
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
    if metadata.idle != 0 { hasIdleTimes.store(true, ordering: .relaxed) }
    return timing
  }

  /// The same for the record of a key. If a fetch of the key failed since the record was written, no refresh is due before
  /// the end of that pause.
  @usableFromInline
  func timing(of metadata: RecordMetadata, pausedFor key: Key) -> Timing? {
    let timing = timing(of: metadata)
    guard case .detailed? = timing,
      let end = table.retryPauses.end(for: table.hash(key), created: metadata.created, now: clock.now())
    else { return timing }
    return timing?.postponingRefresh(until: end)
  }

  /// Tells observers what was recorded. To be called after every critical section that may have recorded something.
  @inlinable
  func deliverChanges() {
    if observers.isObserved { observers.deliver() }
  }

  @usableFromInline
  func location(of key: Key) -> String { "cache \"\(name)\", key \(key)" }
}

extension Worthlessness {
  /// What observers are told.
  fileprivate var cause: RemovalCause {
    switch self {
    case .expired: .expired
    case .undecodable: .lost
    case .outdated: .outdated
    }
  }

  fileprivate func count(in counters: inout ShardCounters) {
    switch self {
    case .expired: counters.expirations += 1
    case .undecodable: counters.notDecodable += 1
    case .outdated: counters.dropped += 1
    }
  }
}
