// A batch: several writes in one critical section, one commit and one set of changes.

extension WritePipeline {
  /// Applies several writes as one.
  ///
  /// Room in memory is reserved before. Inside the critical sections, no other entry can be evicted.
  ///
  /// - Returns: The outcome in the second tier. If a condition does not hold, nothing has happened, and the result is
  ///   nil.
  /// - Throws: `CisternError` if memory alone cannot hold the batch, or the second tier alone would have to and takes
  ///   no writes. Nothing has happened then.
  @inlinable
  func applyTogether(
    _ writes: [PreparedWrite<Key, Value>], to keys: [HashedKey<Key>], context: WriterContext?
  ) throws(CisternError) -> WriteOutcome? {
    var parts = zip(keys, writes).map { BatchPart(key: $0, write: $1.memoryWrite, tags: $1.storedTiming?.tags) }
    let (reservation, isWhole) = table.fit(&parts)
    guard isWhole || secondTier != nil else { throw tooLargeForMemory }
    table.reserve(reservation)
    let batch = secondTier?.partition.beginBatch()
    if let batch, let refusal = refusal(of: writes, in: batch, fitsMemory: isWhole) {
      secondTier?.partition.endBatch(batch)
      table.release(reservation)
      throw refusal
    }
    // Replaced edits are released outside the locks.
    var effects = BatchEffects<Key, Value>(batch: batch, context: context)
    defer { withExtendedLifetime(effects) {} }
    let conditionsHeld = table.writeAll(parts) { cached in decideTogether(writes, parts, cached: cached, &effects) }
    let ticket = batch.flatMap { secondTier?.partition.endBatch($0) }
    guard conditionsHeld else {
      table.release(reservation)
      return nil
    }
    finishBatch(effects.outcome)
    if case .nothing = effects.outcome, let ticket, ticket.number > 0 { return .staged(ticket) }
    return effects.outcome
  }

  /// Reports a refused write of a batch, and notifies observers, outside all locks.
  @usableFromInline
  func finishBatch(_ outcome: WriteOutcome) {
    if case .refused(let excess) = outcome { reportRefusal(excess, location: reports.location) }
    deliverChanges()
  }

  /// Decides on the writes of a batch, stages them, and records their changes as one set. Called inside the critical
  /// sections of all keys.
  @inlinable
  func decideTogether(
    _ writes: [PreparedWrite<Key, Value>], _ parts: [BatchPart<Key, Value>], cached: [CachedValue<Value>?],
    _ effects: inout BatchEffects<Key, Value>
  ) -> [WriteDecision] {
    var changes: [PendingChange<Key, Value>] = []
    var decisions: [WriteDecision] = []
    decisions.reserveCapacity(writes.count)
    for (index, write) in writes.enumerated() {
      var own = WriteEffects<Key, Value>(batch: effects.batch)
      let key = parts[index].key.key
      let willBeInMemory = parts[index].write.preparedValue != nil
      let decision = decideAndStage(write, of: key, cached: cached[index], willBeInMemory: willBeInMemory, &own)
      decisions.append(decision)
      if case .refused = own.outcome { effects.outcome = own.outcome }
      if let replaced = own.replacedEdits { effects.replacedEdits.append(replaced) }
      if let event = decision.event {
        let former = FormerValue(cached: cached[index], edited: own.replacedEdits?.edited)
        let change = pending(event, of: key, replacing: former, write.memoryWrite.preparedValue)
        if event == .unannounced {
          observers.recordUnannounced(change)
        } else {
          changes.append(change)
        }
      }
    }
    if observers.isObserved { observers.record(changes, context: effects.context) }
    return decisions
  }

  /// Checks that the second tier can hold the writes in one commit.
  ///
  /// - Parameter writes: The writes.
  /// - Throws: `CisternError` if the second tier cannot hold them in one commit, or one of them at all.
  @inlinable
  func checkSize(of writes: [PreparedWrite<Key, Value>]) throws(CisternError) {
    guard let partition = secondTier?.partition else { return }
    try partition.checkBatch(of: writes.compactMap { $0.tierWrite }, location: reports.location)
  }

  /// Returns the error of a batch that no tier would hold as a whole, or nil if a tier holds it. Memory does not hold
  /// all values then, and the second tier takes no writes.
  ///
  /// Call it after the batch has begun, because a close can precede the beginning. It does not divide a batch that has
  /// begun.
  @usableFromInline
  func refusal(
    of writes: [PreparedWrite<Key, Value>], in batch: BatchToken, fitsMemory: Bool
  ) -> CisternError? {
    guard !usesMemory || !fitsMemory, let mode = secondTier?.partition.mode(in: batch) else { return nil }
    switch mode {
    case .active: return nil
    // A tier that fails keeps removals until it works again.
    case .degraded where !writes.contains(where: \.storesRecord): return nil
    case .degraded, .readOnly, .closed: break
    }
    return refusal(
      in: mode, effect: "memory does not hold all values, so nothing of the batch was stored",
      location: reports.location)
  }

  @usableFromInline
  var tooLargeForMemory: CisternError {
    CisternError(
      .tooLarge, "the batch is larger than the memory limit; nothing of it was stored", location: reports.location,
      remedy: "Divide the batch, or raise the memory limit")
  }
}
