extension Cache {
  /// Makes several writes as one: nobody sees some of them without the others, on disk they are one commit, which a crash
  /// leaves whole or not at all, and observers of sets are told once (``observeChangeSets(_:_:)``).
  ///
  /// ```swift
  /// try articles.batch { batch in
  ///   batch.setValue(edited, forKey: id)
  ///   batch.removeValue(forKey: draftID)
  /// }
  /// ```
  ///
  /// Returns when all is readable; ``commitBatch(context:_:)`` waits for the disk. Where the cache merges, each value is
  /// merged, with those that the batch set for its key before. Where memory cannot hold all of them, the rest is on disk only.
  ///
  /// A batch may fill a quarter of the disk limit, 256 MiB at most, and each of its values may be as large as it may be
  /// alone. A large one evicts more than it takes up: on disk it is one transaction, which copies the pages that it changes.
  ///
  /// Throws what `body` throws, and `CisternError` if the batch is larger than that, or too large for memory if there is no
  /// disk; or if a value cannot be encoded or merged. Then nothing is stored. O(n) for n keys, whose
  /// shards are locked together for that time.
  ///
  /// - Parameters:
  ///   - context: who writes, for ``Change/context``.
  ///   - body: says what is written. Runs once, at once, outside all locks.
  @inlinable
  @discardableResult
  public func batch<Result>(
    context: WriterContext? = nil, _ body: (inout Batch<Key, Value>) throws -> Result
  ) throws -> Result {
    var batch = Batch<Key, Value>(layering: layering)
    let result = try body(&batch)
    secondTier?.partition.waitForRoom()
    _ = try write(batch, context: context)
    return result
  }

  /// As ``batch(context:_:)``, and returns when the batch is on disk: no crash undoes any of it.
  ///
  /// Throws `CisternError` also when the disk refuses the batch or fails; memory holds it all the same, if it can.
  @inlinable
  @discardableResult
  public nonisolated(nonsending) func commitBatch<Result>(
    context: WriterContext? = nil, _ body: (inout Batch<Key, Value>) throws -> Result
  ) async throws -> Result {
    var batch = Batch<Key, Value>(layering: layering)
    let result = try body(&batch)
    await secondTier?.partition.prepareToCommit()
    try await waitForCommit(try write(batch, context: context))
    return result
  }

  @inlinable
  func write(_ batch: Batch<Key, Value>, context: WriterContext?) throws(CisternError) -> WriteOutcome {
    try writeTogether(batch.keys, context: context, dependsOnCached: dependsOnCached) {
      key, finding throws(CisternError) in
      guard let write = batch.writes[key] else { return PlannedWrite(.keep) }
      return try plan(write, arriving(write.storing), forKey: key, over: finding)
    }
  }

  /// The outcome of a batch's or a draft's write of a key, merged if the cache merges.
  @inlinable
  func plan(
    _ write: KeyWrite<Value>, _ storing: Storing, forKey key: Key, over finding: Finding
  ) throws(CisternError) -> PlannedWrite {
    let result = try write.value(over: finding.usable) { incoming, earlier throws(CisternError) in
      try merged(incoming, over: earlier, forKey: key)
    }
    guard let result else { return PlannedWrite(.remove) }
    return PlannedWrite(.store(result), storing, effect: write.replaces ? .replacement : arrivalEffect)
  }

  /// The meaning of a batch's later writes of a key for the earlier ones.
  @inlinable
  var layering: WriteLayering { merge == nil ? .replaces : .merges }

  @usableFromInline
  nonisolated(nonsending) func waitForCommit(_ outcome: WriteOutcome) async throws(CisternError) {
    switch outcome {
    case .nothing: break
    case .staged(let ticket): try await secondTier?.partition.waitForCommit(ticket)
    case .refused(let size): throw refusal(size: size, location: "cache \"\(name)\"")
    }
  }
}

// MARK: The way of a batch

extension Cache {
  /// What is to become of a key, beside others.
  @usableFromInline
  struct PlannedWrite {
    @usableFromInline let replacement: Replacement
    @usableFromInline let storing: Storing
    @usableFromInline let effect: WriteEffect

    @inlinable
    init(_ replacement: Replacement, _ storing: Storing = Storing(), effect: WriteEffect = .replacement) {
      self.replacement = replacement
      self.storing = storing
      self.effect = effect
    }
  }

  /// A key's part of a batch, weighed and encoded.
  @usableFromInline
  struct PreparedWrite {
    @usableFromInline let writing: Writing<Value>
    @usableFromInline let isAnnounced: Bool
    @usableFromInline let isRemoval: Bool
    /// What unconfirmed edits show from now on, where some lie over the key.
    @usableFromInline let shown: ShownWrite?
    /// Whether observers take the key to have a value, where unconfirmed edits lie over it.
    @usableFromInline let existed: Bool?

    @inlinable
    init(writing: Writing<Value>, isAnnounced: Bool, isRemoval: Bool, shown: ShownWrite? = nil, existed: Bool?) {
      self.writing = writing
      self.isAnnounced = isAnnounced
      self.isRemoval = isRemoval
      self.shown = shown
      self.existed = existed
    }

    @inlinable
    var edits: EditMark {
      if let shown { return .shown(isSettled: shown.kept == nil, keepsFlight: false) }
      return isRemoval ? .ended : .unchanged
    }
  }

  /// Reads keys, decides on all of them, and writes them at once, until nobody wrote one of them in between. `plan` may be
  /// called several times for each.
  ///
  /// - Parameter dependsOnCached: whether `plan` needs the cached values.
  @inlinable
  func writeTogether(
    _ keys: [Key], context: WriterContext?, dependsOnCached: Bool,
    _ plan: (Key, Finding) throws(CisternError) -> PlannedWrite
  ) throws(CisternError) -> WriteOutcome {
    let hashes = keys.map { table.hash($0) }
    for hash in hashes { table.watch(hash) }
    defer { for hash in hashes { table.unwatch(hash) } }
    while true {
      var parts: [BatchPart<Key, Value>] = []
      var prepared: [PreparedWrite] = []
      for (key, hash) in zip(keys, hashes) {
        let finding = find(key, hash: hash, readsValue: dependsOnCached)
        let planned = try plan(key, finding)
        guard let write = try prepare(planned, replacing: finding, forKey: key) else { continue }
        prepared.append(write)
        parts.append(
          BatchPart(
            key: key, hash: hash, condition: .unchanged(since: finding.version), effect: planned.effect,
            edits: write.edits, arrival: write.writing.arrival))
      }
      if parts.isEmpty { return .nothing }
      try checkSize(prepared)
      if let outcome = try commit(parts, prepared, context: context) { return outcome }
    }
  }

  @inlinable
  func prepare(
    _ planned: PlannedWrite, replacing finding: Finding, forKey key: Key
  ) throws(CisternError) -> PreparedWrite? {
    switch planned.replacement {
    case .keep:
      return nil
    case .remove:
      let staged = secondTier.map { StagedWrite.removal(key: $0.bytes(key)) }
      return PreparedWrite(
        writing: Writing(arrival: nil, staged: staged, encodingError: nil), isAnnounced: true, isRemoval: true,
        existed: finding.edited.map { _ in finding.existed })
    case .store(let value):
      let storing = keepingTags(of: finding, planned.storing)
      let shown = finding.edited.map {
        prepare(value, under: $0, replacing: finding, forKey: key, storing: storing)
      }
      let writing =
        shown.map { Writing(arrival: $0.arrival, staged: $0.staged, encodingError: $0.encodingError) }
        ?? prepare(value, forKey: key, storing: storing)
      if let error = writing.encodingError { throw notEncodable(key, error) }
      let isSame = finding.usable.map { isEqual?($0, value) ?? false } ?? false
      return PreparedWrite(
        writing: writing, isAnnounced: !isSame, isRemoval: false, shown: shown,
        existed: finding.edited.map { _ in finding.existed })
    }
  }

  /// As `prepare`, where unconfirmed edits lie over the key: the value is the confirmed one.
  @usableFromInline
  func prepare(
    _ value: Value, under present: EditedKeys<Key, Value>.Edited, replacing finding: Finding, forKey key: Key,
    storing: Storing
  ) -> ShownWrite {
    var edited = present
    edited.queue.replaceBase(by: value)
    edited.shown = edited.queue.shown()
    return prepare(edited, replacing: finding, forKey: key, storing: storing)
  }

  @usableFromInline
  func notEncodable(_ key: Key, _ error: any Error) -> CisternError {
    CisternError(
      .notEncodable, "a value of a batch could not be encoded; nothing of the batch was stored",
      location: location(of: key), cause: error)
  }

  @inlinable
  func checkSize(_ prepared: [PreparedWrite]) throws(CisternError) {
    guard let partition = secondTier?.partition else { return }
    let size = prepared.reduce(0) { $0 + ($1.writing.staged?.stagedSize ?? 0) }
    guard partition.canHold(batchBytes: size, count: prepared.count),
      // Each write has the limit that it has alone.
      prepared.allSatisfy({ partition.canHold(batchBytes: $0.writing.staged?.stagedSize ?? 0, count: 1) })
    else {
      throw tooLarge(count: prepared.count, size: size)
    }
  }

  @usableFromInline
  func tooLarge(count: Int, size: Int) -> CisternError {
    let limit = secondTier?.partition.largestBatch.map { ": it may fill a quarter of the disk limit, here \($0)" } ?? ""
    return CisternError(
      .tooLarge,
      "a batch of \(count) writes and \(ByteCount.bytes(size)) is more than one commit can hold\(limit); nothing of it was stored. Make several of it",
      location: "cache \"\(name)\"")
  }

  @usableFromInline
  var tooLargeForMemory: CisternError {
    CisternError(
      .tooLarge, "the batch is more than memory may hold; nothing of it was stored", location: "cache \"\(name)\"")
  }

  /// The critical section of a batch, and what follows it; nil where a condition did not hold.
  @inlinable
  func commit(
    _ unreserved: [BatchPart<Key, Value>], _ prepared: [PreparedWrite], context: WriterContext?
  ) throws(CisternError) -> WriteOutcome? {
    var parts = unreserved
    let (reservation, isWhole) = table.fit(&parts)
    guard isWhole || secondTier != nil else { throw tooLargeForMemory }
    table.reserve(reservation)
    // Let go of outside the locks.
    var former: [EditedKeys<Key, Value>.Edited?] = []
    defer { withExtendedLifetime(former) {} }
    var outcome = WriteOutcome.nothing
    let token = secondTier?.partition.beginBatch()
    let applied = table.writeAll(parts) { had, _ in
      var changes: [(event: Change<Key, Value>.Event, tags: [String])] = []
      var effects: [BatchEffect] = []
      effects.reserveCapacity(prepared.count)
      for (index, write) in prepared.enumerated() {
        let key = parts[index].key
        let hadValue = write.existed ?? hadValue(had[index], keyBytes: write.writing.staged?.key)
        if write.existed != nil { former.append(edits.set(write.shown?.kept, for: key)) }
        var isPersisted = false
        if let unstamped = write.writing.staged, let token, let partition = secondTier?.partition {
          let staged = stamped(unstamped, broughtBy: nil)
          switch partition.stage(staged, in: token) {
          case .staged: if case .record = staged { isPersisted = true }
          case .refused: outcome = .refused(size: 0)
          }
        }
        let isKept = isPersisted || parts[index].arrival != nil
        let tags = tags(of: had[index], and: write.writing.arrival)
        if let shown = write.shown {
          if let event = shown.event(of: key, existed: hadValue) { changes.append((event, tags)) }
          // Kept beside memory, while it is not settled.
          if shown.kept != nil { isPersisted = true }
        } else if isKept, let value = write.writing.arrival?.value {
          if write.isAnnounced { changes.append((hadValue ? .updated(key, value) : .inserted(key, value), tags)) }
        } else if hadValue {
          changes.append((.removed(key, write.isRemoval ? .explicit : .refused), tags))
        }
        effects.append(
          BatchEffect(
            isPersisted: isPersisted, isStored: isKept, isRemoved: write.isRemoval && (hadValue || had[index] != nil)))
      }
      if observers.isObserved { observers.record(changes, context: context) }
      return effects
    }
    let ticket = token.flatMap { secondTier?.partition.endBatch($0) }
    guard applied else {
      table.release(reservation)
      return nil
    }
    deliverChanges()
    if case .nothing = outcome, let ticket, ticket.number > 0 { return .staged(ticket) }
    return outcome
  }
}
