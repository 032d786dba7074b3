public import Eviction
public import Locking

/// Compares keys of an enumeration with memory and the unconfirmed edits, at about one instant.
@usableFromInline
struct EntryReader<Key: CacheKey, Value: Sendable> {
  @usableFromInline let records: SecondTierReader<Key, Value>
  @usableFromInline let now: MonotonicTime
  @usableFromInline let wallNow: WallTime
  @usableFromInline let latestWriteTime: WallTime
  @usableFromInline let schemaVersion: UInt32
  @usableFromInline let measuresAge: Bool

  @usableFromInline
  init(_ records: SecondTierReader<Key, Value>) {
    self.records = records
    schemaVersion = records.schemaVersion
    measuresAge = records.lifetimes.measuresAge
    now = records.lifetimes.clockTime()
    wallNow = records.lifetimes.wallNow()
    latestWriteTime = records.lifetimes.latestWriteTime()
  }

  /// Returns the entry of a key, or nil if no read finds a value of it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - metadata: The key's record, or nil if the second tier is not known to have one.
  /// - Returns: The entry; nil for none.
  @inlinable
  func entry(of key: Key, _ metadata: RecordMetadata?) -> CacheEntry<Key, Value>? {
    let hash = records.table.hash(key)
    if let (held, cost) = records.table.heldWithCost(key, hash: hash), !held.isGone(at: now) {
      let residency: EntryResidency = metadata != nil || held.isPersisted ? [.memory, .secondTier] : .memory
      return entry(of: key, held.timing, cost: Int(cost), residency, metadata)
    }
    if !records.edits.isEmpty, let edited = records.edits[key] {
      guard edited.shown != nil else { return nil }
      let residency: EntryResidency = metadata == nil ? .memory : [.memory, .secondTier]
      return entry(of: key, edited.shownTiming, cost: Int(metadata?.cost ?? 0), residency, metadata)
    }
    guard let metadata = metadata ?? recordMetadata(of: key) else { return nil }
    return entryOfRecord(key, metadata)
  }

  /// Returns the entry of a key that only the second tier has, or nil if no read finds its value.
  @inlinable
  func entryOfRecord(_ key: Key, _ metadata: RecordMetadata) -> CacheEntry<Key, Value>? {
    guard isReadable(metadata), let timing = records.lifetimes.timing(of: metadata) else { return nil }
    return entry(of: key, timing, cost: Int(metadata.cost), .secondTier, metadata)
  }

  /// Returns the entry of a key whose record only the second tier has, or nil if no read finds its value.
  @inlinable
  func entryOfRecord(
    _ key: Key, _ record: RecordChunk.Record, in chunk: borrowing RecordChunk
  ) -> CacheEntry<Key, Value>? {
    if let summary = chunk.summary(of: record), summary.schemaVersion == schemaVersion, !measuresAge {
      guard summary.isFresh(at: wallNow, latestWriteTime: latestWriteTime) else { return nil }
      var state = EntryState(cost: Int(summary.cost), age: age(of: summary.created))
      // A record of the time when the clock was set forward has no more than its whole lifetime.
      if let left = summary.expires?.nanoseconds(since: max(wallNow, summary.created)) {
        state.remainingLifetime = .nanoseconds(left)
      }
      return CacheEntry(key, state, residency: .secondTier, records: records)
    }
    return entryOfRecord(key, chunk.metadata(of: record))
  }

  /// Whether a read finds a fresh value in a record that only the second tier has.
  @inlinable
  func isFresh(_ record: RecordChunk.Record, in chunk: borrowing RecordChunk) -> Bool {
    if let summary = chunk.summary(of: record), summary.schemaVersion == schemaVersion {
      return summary.isFresh(at: wallNow, latestWriteTime: latestWriteTime)
    }
    return isFresh(chunk.metadata(of: record))
  }

  @usableFromInline
  func isFresh(_ metadata: RecordMetadata) -> Bool {
    guard isReadable(metadata), let timing = records.lifetimes.timing(of: metadata) else { return false }
    return switch timing.freshness(at: now) {
    case .fresh, .refreshDue: true
    case .stale, .gone: false
    }
  }

  @usableFromInline
  func recordMetadata(of key: Key) -> RecordMetadata? {
    guard let partition = records.secondTier?.partition else { return nil }
    return key.withKeyBytes { partition.metadata(of: $0) }
  }

  /// Whether a read may find a value in the record. The migration of an older record decides only when it is read.
  @inlinable
  func isReadable(_ metadata: RecordMetadata) -> Bool {
    metadata.schemaVersion == schemaVersion || isMigratable(metadata)
  }

  @usableFromInline
  func isMigratable(_ metadata: RecordMetadata) -> Bool {
    metadata.schemaVersion < schemaVersion && (records.migrate != nil || metadata.isNegative)
  }

  @inlinable
  func entry(
    of key: Key, _ timing: Timing, cost: Int, _ residency: EntryResidency, _ metadata: RecordMetadata?
  ) -> CacheEntry<Key, Value>? {
    var state = EntryState(cost: cost, age: metadata.flatMap { age(of: $0.created) })
    if !timing.isPlainForever {
      guard let timed = timedState(timing, state, prefersAgeInMemory: residency.contains(.memory)) else { return nil }
      state = timed
    }
    return CacheEntry(key, state, residency: residency, records: records)
  }

  /// Returns the age of a value by the time of day. Nil if the value was stored later.
  @inlinable
  func age(of created: WallTime) -> Duration? {
    wallNow.nanoseconds(since: created).map { Duration.nanoseconds($0) }
  }

  /// Returns the state of a value that has a lifetime, tags or an age. Returns nil after the end of its grace.
  @usableFromInline
  func timedState(_ timing: Timing, _ state: EntryState, prefersAgeInMemory: Bool) -> EntryState? {
    let freshness = timing.freshness(at: now)
    if freshness == .gone { return nil }
    let details = ValueDetails(timing, at: now)
    var state = state
    if case .stale = freshness { state.isStale = true }
    state.age = prefersAgeInMemory ? details.age ?? state.age : state.age ?? details.age
    state.remainingLifetime = details.remainingLifetime
    state.tags = details.tags.isEmpty ? nil : details.tags
    return state
  }
}

extension SecondTierReader {
  /// Returns the value of a key, fresh or in grace, without a change of either tier. Uncounted in memory.
  func valueWithoutPromotion(of key: HashedKey<Key>) -> Value? {
    if let value = valueInMemory(key) { return value }
    if case .shows(let shown) = viewOfEdits(of: key.key) { return shown }
    guard let secondTier else { return nil }
    if let interpretation = interpretedRecord(of: key, in: secondTier) {
      guard case .usable(let found) = interpretation else { return nil }
      return found.value
    }
    // As in a look-up, another reader may have promoted the value before the second tier evicted the record.
    return valueInMemory(key)
  }

  /// Returns the value that memory holds for a key, fresh or in grace. Does not count as a use.
  private func valueInMemory(_ key: HashedKey<Key>) -> Value? {
    guard let held = table.peek(key), !held.isGone(at: lifetimes.now()) else { return nil }
    return held.value
  }
}

extension EntryTable {
  /// Returns the value that memory holds for a key, with its cost. No use of the value.
  @inlinable
  func heldWithCost(_ key: Key, hash: UInt64) -> (held: CachedValue<Value>, cost: UInt32)? {
    let fingerprint = Self.fingerprint(hash)
    return unsafe shards.withShardToRead(at: shards.index(of: hash)) { shard, _ in
      guard let number = unsafe shard.pointee.locate(key, fingerprint: fingerprint, budget: budget),
        let held = unsafe shard.pointee.slots[number].entry.held
      else { return nil }
      return (held, unsafe shard.pointee.slots[node: number].cost)
    }
  }
}
