import Synchronization

extension Cache {
  /// Stores a value in both tiers, in place of any older one, or merged with it (``CacheConfiguration/merge``). A fetch of
  /// the key that is on its way is not stored; where the cache merges, it is merged under the value.
  ///
  /// Returns at once: the value is readable now, and on disk within the store's commit interval. A crash before that
  /// leaves the older value; ``commitValue(_:forKey:expiry:tags:context:)`` waits. Blocks the thread only while more writes are
  /// staged than the disk keeps up with.
  ///
  /// A value dearer than memory's limit is kept on disk only; one that no tier can hold is not stored, evicts nobody,
  /// and leaves no older value behind. One that cannot be encoded stays in memory, and is reported. O(1), and the
  /// encoding.
  ///
  /// - Parameters:
  ///   - value: what is stored.
  ///   - key: what it is stored under.
  ///   - expiry: the value's lifetime; nil for the cache's.
  ///   - tags: what it can be removed by, with others: ``removeAll(tagged:context:)``. An empty one is no tag.
  ///   - context: who writes, for ``Change/context``.
  @inlinable
  public func setValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], context: WriterContext? = nil
  ) {
    let hash = EntryTable<Key, Value>.hash(key)
    secondTier?.partition.waitForRoom()
    noticeExpiry(ofKey: key, hash: hash)
    if !dependsOnCached {
      let writing = prepare(value, forKey: key, expiry: expiry, tags: tags)
      if commit(writing, forKey: key, hash: hash, WriteTerms(context: context)) != nil { return }
    }
    // What cannot be merged was reported.
    _ = try? arrive(value, forKey: key, hash: hash, expiry: expiry, tags: tags, context: context)
  }

  /// Stores a value, as ``setValue(_:forKey:expiry:tags:context:)`` does, and returns when it is on disk: no crash brings an older
  /// value back. In a store without a second tier it returns at once.
  ///
  /// Throws `CisternError` when the disk refuses the value or fails; memory holds it all the same, if it can. And when it
  /// cannot be merged with what is cached, which stays.
  public nonisolated(nonsending) func commitValue(
    _ value: Value, forKey key: Key, expiry: Expiry? = nil, tags: [String] = [], context: WriterContext? = nil
  ) async throws(CisternError) {
    let hash = EntryTable<Key, Value>.hash(key)
    await secondTier?.partition.waitForRoom()
    noticeExpiry(ofKey: key, hash: hash)
    if !dependsOnCached {
      let writing = prepare(value, forKey: key, expiry: expiry, tags: tags)
      if let outcome = commit(writing, forKey: key, hash: hash, WriteTerms(context: context)) {
        return try await waitForCommit(outcome, encodingError: writing.encodingError, forKey: key)
      }
    }
    let written = try arrive(value, forKey: key, hash: hash, expiry: expiry, tags: tags, context: context)
    try await waitForCommit(written.outcome, encodingError: written.encodingError, forKey: key)
  }

  /// Removes a key from both tiers. A fetch of it that is on its way is not stored; its callers get its result.
  ///
  /// Returns at once: nothing is read from now on. A crash within the store's commit interval may bring the value back;
  /// ``commitRemoval(forKey:context:)`` waits. O(1).
  public func removeValue(forKey key: Key, context: WriterContext? = nil) {
    remove(key, context: context)
  }

  /// Removes a key, as ``removeValue(forKey:context:)`` does, and returns when that is on disk: no crash brings the value back.
  ///
  /// Throws `CisternError` when the disk fails.
  public nonisolated(nonsending) func commitRemoval(
    forKey key: Key, context: WriterContext? = nil
  ) async throws(CisternError) {
    await secondTier?.partition.waitForRoom()
    // Staged in any case: an earlier removal of the key may not have been committed yet.
    try await waitForCommit(remove(key, stagingAlways: true, context: context), forKey: key)
  }

  /// Removes every key from both tiers at once: no look-up sees some of them. Fetches that are on their way are not
  /// stored. Observers are told once, by ``Change/Event/cleared``.
  ///
  /// O(1): what memory held is let go of behind, by a task, where it is many entries; what is on disk is unreachable at
  /// once and purged behind.
  public func removeAll() {
    var edited: [Key: EditedKeys<Key, Value>.Edited] = [:]
    defer { withExtendedLifetime(edited) {} }
    table.clear(taskExecutor: pilot.taskExecutor) {
      if !edits.isEmpty { edited = edits.removeAll() }
      _ = secondTier?.partition.stageRemovalOfAll()
      if observers.isObserved { observers.record(.cleared) }
    }
    deliverChanges()
  }
}

// MARK: The way of a write

/// A value on its way into the tiers: weighed and encoded, outside all locks.
@usableFromInline
struct Writing<Value: Sendable>: Sendable {
  /// What memory is to hold; nil where the value's lifetime is already over.
  @usableFromInline let arrival: Arrival<Value>?
  /// What the second tier is to hold: the key's record, or its removal. Nil where there is no second tier.
  @usableFromInline let staged: StagedWrite?
  /// Why the value is not to be on disk, if it could not be encoded.
  @usableFromInline let encodingError: (any Error)?

  @inlinable
  init(arrival: Arrival<Value>?, staged: StagedWrite?, encodingError: (any Error)?) {
    self.arrival = arrival
    self.staged = staged
    self.encodingError = encodingError
  }
}

/// How a value is written.
@usableFromInline
struct WriteTerms<Value: Sendable> {
  /// When the write applies.
  @usableFromInline var condition = WriteCondition<Value>.unedited
  /// What it means for those who began something before it.
  @usableFromInline var effect = WriteEffect.replacement
  /// Who writes.
  @usableFromInline var context: WriterContext?
  /// Whether observers are told that there is a value. That one went, they are told in any case.
  @usableFromInline var isAnnounced = true

  @inlinable
  init(
    if condition: WriteCondition<Value> = .unedited, effect: WriteEffect = .replacement, context: WriterContext? = nil,
    isAnnounced: Bool = true
  ) {
    self.condition = condition
    self.effect = effect
    self.context = context
    self.isAnnounced = isAnnounced
  }
}

/// What became of a write in the second tier.
@usableFromInline
enum WriteOutcome: Sendable {
  /// There was nothing to do.
  case nothing
  /// It is staged.
  case staged(CommitTicket)
  /// The tier would not have it.
  case refused
}

extension Cache {
  /// Weighs and encodes. Runs the weigher and the codec: outside all locks.
  @inlinable
  func prepare(_ value: Value, forKey key: Key, expiry: Expiry?, tags: [String] = []) -> Writing<Value> {
    let keyBytes = secondTier?.bytes(key)
    var expiry = expiry ?? expiryOfValue?(value) ?? self.expiry
    guard !expiry.refusesWrite else {
      return Writing(arrival: nil, staged: keyBytes.map { .removal(key: $0) }, encodingError: nil)
    }
    var timing = Timing.plain(until: .distantFuture)
    let tags = allTags(of: value, and: tags)
    if !expiry.isNever || !tags.isEmpty {
      expiry = expiry.resolved(forHash: EntryTable<Key, Value>.hash(key))
      timing = expiry.timing(from: clock.now(), tags: tags)
      if !expiry.isNever { hasDeadlines.store(true, ordering: .relaxed) }
      if expiry.idle != 0 { hasIdleTimes.store(true, ordering: .relaxed) }
    }
    let encoded = encode(value, forKey: key)
    let cost = UInt32(clamping: max(1, weigher?(value) ?? encoded.size))
    let staged: StagedWrite? = keyBytes.map { keyBytes in
      guard let bytes = encoded.bytes else { return .removal(key: keyBytes) }
      let created = wallNow()
      var metadata = expiry.metadata(created: created, cost: cost, tags: tags)
      metadata.schemaVersion = schemaVersion
      metadata.isNegative = codec?.isAbsent(value) ?? false
      return .record(key: keyBytes, metadata, bytes: bytes)
    }
    return Writing(
      arrival: Arrival(value: value, cost: cost, timing: timing), staged: staged, encodingError: encoded.error)
  }

  /// The tags of a write and those that the value itself says. The empty one is no tag.
  @inlinable
  func allTags(of value: Value, and tags: [String]) -> [String] {
    guard let tagsOfValue else { return tags.isEmpty ? tags : tags.filter { !$0.isEmpty } }
    return (tags + tagsOfValue(value)).filter { !$0.isEmpty }
  }

  /// The value's bytes, where there is a tier for them or they are needed to weigh it; and its size.
  @usableFromInline
  func encode(_ value: Value, forKey key: Key) -> (bytes: [UInt8]?, size: Int, error: (any Error)?) {
    guard let codec else { return (nil, 1, nil) }
    if secondTier == nil {
      if weigher != nil { return (nil, 1, nil) }
      if let size = codec.encodedSize(value) { return (nil, size, nil) }
    }
    do {
      let bytes = try codec.encode(value)
      return (bytes, bytes.count, nil)
    } catch {
      table.count(EntryTable<Key, Value>.hash(key)) { $0.notEncodable += 1 }
      report(
        StoreReport(
          .notEncodable, "a value could not be encoded; it is in memory only, at a cost of 1",
          location: location(of: key), cause: error))
      return (nil, 1, error)
    }
  }

  /// The critical section of every store, and what follows it.
  ///
  /// - Returns: nil where the terms' condition did not hold: then nothing has happened.
  @inlinable
  @discardableResult
  func commit(
    _ writing: Writing<Value>, forKey key: Key, hash: UInt64, _ terms: WriteTerms<Value>
  ) -> WriteOutcome? {
    var outcome = WriteOutcome.nothing
    var isKept = false
    let applied = table.write(
      writing.arrival, forKey: key, hash: hash, if: terms.condition, effect: terms.effect
    ) { had, isHeld, era in
      let hadValue = hadValue(had, keyBytes: writing.staged?.key)
      var isPersisted = false
      if let staged = writing.staged?.stamped(era: era), let secondTier {
        switch secondTier.partition.stage(staged) {
        case .staged(let ticket):
          outcome = .staged(ticket)
          if case .record = staged { isPersisted = true }
        case .refused:
          outcome = .refused
        }
      }
      isKept = isHeld || isPersisted
      if observers.isObserved {
        let tags = (had?.timing.tags ?? []) + (writing.arrival?.timing.tags ?? [])
        if isKept {
          if terms.isAnnounced, let value = writing.arrival?.value {
            observers.record(
              hadValue ? .updated(key, value) : .inserted(key, value), context: terms.context, tags: tags)
          }
        } else if hadValue {
          observers.record(.removed(key, .refused), context: terms.context, tags: tags)
        }
      }
      return isPersisted
    }
    if applied { table.count(hash) { if isKept { $0.stores += 1 } else { $0.refused += 1 } } }
    deliverChanges()
    return applied ? outcome : nil
  }

  /// Removes a key; nil where the condition did not hold.
  @discardableResult
  func remove(
    _ key: Key, if condition: WriteCondition<Value> = .always, stagingAlways: Bool = false, context: WriterContext?
  ) -> WriteOutcome? {
    let keyBytes = secondTier?.bytes(key)
    let hash = EntryTable<Key, Value>.hash(key)
    noticeExpiry(ofKey: key, hash: hash)
    var outcome = WriteOutcome.nothing
    var hadAny = false
    // Let go of outside the lock.
    var edited: EditedKeys<Key, Value>.Edited?
    defer { withExtendedLifetime(edited) {} }
    let applied = table.write(nil, forKey: key, hash: hash, if: condition, edits: .ended) { had, _, _ in
      if !edits.isEmpty { edited = edits.set(nil, for: key) }
      hadAny = edited.map { $0.shown != nil } ?? (had != nil || keyBytes.map { isPersisted($0) } ?? false)
      guard hadAny || stagingAlways || edited != nil else { return false }
      if let keyBytes, let secondTier {
        switch secondTier.partition.stage(.removal(key: keyBytes)) {
        case .staged(let ticket): outcome = .staged(ticket)
        case .refused: outcome = .refused
        }
      }
      if hadAny, observers.isObserved {
        observers.record(.removed(key, .explicit), context: context, tags: had?.timing.tags ?? [])
      }
      return false
    }
    if hadAny { table.count(hash) { $0.removals += 1 } }
    deliverChanges()
    return applied ? outcome : nil
  }

  /// Whether the key had a value in either tier. Asks the second one only where somebody wants to know.
  @usableFromInline
  func hadValue(_ had: Held<Value>?, keyBytes: [UInt8]?) -> Bool {
    guard had == nil else { return true }
    guard observers.isObserved, let keyBytes else { return false }
    return isPersisted(keyBytes)
  }

  @usableFromInline
  func isPersisted(_ keyBytes: [UInt8]) -> Bool {
    guard let secondTier else { return false }
    return secondTier.partition.contains(keyBytes.rawSpan)
  }

  /// Returns when a write is on disk.
  nonisolated(nonsending) func waitForCommit(
    _ outcome: WriteOutcome?, encodingError: (any Error)? = nil, forKey key: Key
  ) async throws(CisternError) {
    if let encodingError {
      throw CisternError(
        .notEncodable, "the value could not be encoded; it is in memory only", location: location(of: key),
        cause: encodingError)
    }
    switch outcome {
    case .nothing, nil:
      break
    case .staged(let ticket):
      try await secondTier?.partition.waitForCommit(ticket)
    case .refused:
      throw CisternError(
        .diskFailed,
        "the second tier would not take the write: it is larger than the tier can hold, or the tier is read-only, closed or failing",
        location: location(of: key))
    }
  }
}
