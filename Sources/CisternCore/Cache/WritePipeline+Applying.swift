// The critical section of every write, and the actions that follow it.

extension WritePipeline {
  /// Applies the write of a value that is set, is fetched, or is made of the cached one.
  ///
  /// The function does what ``apply(_:to:)`` does, with code for this kind of write alone.
  ///
  /// - Returns: The outcome in the second tier. If the condition does not hold, nothing has happened, and the result is
  ///   nil.
  @inlinable
  @inline(never)
  func store(_ value: EncodedValue<Value>, of key: HashedKey<Key>, options: StoringOptions<Value>) -> WriteOutcome? {
    var outcome = WriteOutcome.nothing
    let conditionHeld = table.write(MemoryWrite(value.preparedValue, if: options.condition), to: key) {
      cached, willBeInMemory in
      let situation = WriteSituation(
        isInMemory: cached != nil, willBeInMemory: willBeInMemory, isObserved: observers.isObserved)
      let decision = WriteDecision.store(options.effect, isAnnounced: options.isAnnounced, in: situation) {
        presence(of: value.tierWrite?.key)
      } stage: {
        guard let tierWrite = value.tierWrite else { return .nothing }
        return stage(withVersion(tierWrite, fetchedBy: options.condition.flight), in: nil, &outcome)
      }
      if let event = decision.event {
        record(
          event, of: key.key, replacing: FormerValue(cached: cached), value.preparedValue, context: options.context)
      }
      return decision
    }
    if case .refused(let excess) = outcome { reportRefusal(excess, of: key.key) }
    deliverChanges()
    return conditionHeld ? outcome : nil
  }

  /// Applies a write of one key to both tiers, and notifies observers.
  ///
  /// - Returns: The outcome in the second tier. If the condition does not hold, nothing has happened, and the result is
  ///   nil.
  @inlinable
  @discardableResult
  func apply(_ write: PreparedWrite<Key, Value>, to key: HashedKey<Key>) -> WriteOutcome? {
    var effects = WriteEffects<Key, Value>()
    // Released outside the lock.
    defer { withExtendedLifetime(effects.replacedEdits) {} }
    return apply(write, to: key, &effects) ? effects.outcome : nil
  }

  /// Applies a write of one key to both tiers, notifies observers, and adds to the effects. Returns whether the
  /// condition holds.
  @inlinable
  func apply(
    _ write: PreparedWrite<Key, Value>, to key: HashedKey<Key>, _ effects: inout WriteEffects<Key, Value>
  ) -> Bool {
    let conditionHeld = table.write(write.memoryWrite, to: key) {
      giveUpLostRecord(write, &effects.outcome)
    } decide: { cached, willBeInMemory in
      let decision = decideAndStage(write, of: key.key, cached: cached, willBeInMemory: willBeInMemory, &effects)
      if let event = decision.event {
        let former = FormerValue(cached: cached, edited: effects.replacedEdits?.edited)
        record(event, of: key.key, replacing: former, write.memoryWrite.preparedValue, context: write.context)
      }
      effects.isRefused = decision.counter == .refused
      return decision
    }
    if case .refused(let excess) = effects.outcome, write.intent.storesNewValue {
      reportRefusal(excess, of: key.key)
    }
    deliverChanges()
    return conditionHeld
  }

  /// Records an event for observers. Called inside the critical section of the key.
  @inlinable
  @inline(never)
  func record(
    _ event: WriteEvent, of key: Key, replacing former: FormerValue<Key, Value>, _ preparedValue: PreparedValue<Value>?,
    context: WriterContext?
  ) {
    let change = pending(event, of: key, replacing: former, preparedValue)
    if event == .unannounced {
      observers.recordUnannounced(change)
    } else {
      observers.record(change, context: context)
    }
  }

  /// Returns an event with its key, its values and their tags.
  @inlinable
  func pending(
    _ event: WriteEvent, of key: Key, replacing former: FormerValue<Key, Value>, _ preparedValue: PreparedValue<Value>?
  ) -> PendingChange<Key, Value> {
    PendingChange(
      change(event, of: key, to: preparedValue?.value), previous: former.previous(of: event),
      tags: ChangeTags(former: former.tags, new: preparedValue?.timing.tags ?? []))
  }

  /// Decides on a write and stages it. Called inside the critical section of the key.
  ///
  /// A write that ends the edits of its key replaces them first. If the edits announce the removal of a record that
  /// they could not read, its loss is acknowledged.
  @inlinable
  @inline(__always)
  func decideAndStage(
    _ write: PreparedWrite<Key, Value>, of key: Key, cached: CachedValue<Value>?, willBeInMemory: Bool,
    _ effects: inout WriteEffects<Key, Value>
  ) -> WriteDecision {
    var situation = WriteSituation(
      isInMemory: cached != nil, willBeInMemory: willBeInMemory, isObserved: observers.isObserved)
    switch write.intent {
    case .store, .promote, .discard, .expire, .noteUse, .noteRecordLoss:
      break
    case .remove, .show:
      replaceEdits(of: key, by: write.shownEdits, &effects)
      situation.edits = effects.replacedEdits.map { EditView.shows($0.edited.shown).presence } ?? .unedited
    }
    let decision = WriteDecision.decide(write.intent, in: situation) {
      // Inside the critical sections of a batch, the tier is asked only if it must be.
      let isNeeded = effects.batch == nil || situation.isObserved || write.intent.dependsOnRecord
      return isNeeded ? presence(of: write.keyBytes) : .unknown
    } stage: {
      guard let tierWrite = write.tierWrite else { return .nothing }
      let withVersion =
        write.intent.storesNewValue ? withVersion(tierWrite, fetchedBy: write.memoryWrite.condition.flight) : tierWrite
      return stage(withVersion, if: write.recordCondition, in: effects.batch, &effects.outcome)
    }
    if case .removed = decision.event, let shownEdits = write.shownEdits, write.tierWrite == nil,
      !shownEdits.hasConfirmedValue
    {
      acknowledgeLoss(of: write.keyBytes)
      // A write of a batch has no condition.
      if effects.batch == nil { removeDamaged(write.keyBytes) }
    }
    return decision
  }

  /// Stages the removal of a record that the edits of its key could not read, because they announce the end of the
  /// value. The tier would report the damage as a second end.
  @usableFromInline
  @inline(never)
  func removeDamaged(_ keyBytes: [UInt8]?) {
    guard let keyBytes, presence(of: keyBytes) == .readable else { return }
    _ = secondTier?.partition.stage(.removal(key: keyBytes), if: .damaged)
  }

  /// Acknowledges the loss of a record, because the edits of its key announce the removal. The report of the tier would
  /// be the second one.
  @usableFromInline
  @inline(never)
  func acknowledgeLoss(of keyBytes: [UInt8]?) {
    guard let keyBytes, let partition = secondTier?.partition else { return }
    // Before the acknowledgment: an enumeration that does not find the loss in the tier must find it here. Over
    // a tier that tells its losses, a key without one must not fill the list.
    if partition.hasLostKeys { table.walks.noteLoss(of: keyBytes) }
    _ = partition.acknowledgeLoss(of: keyBytes.rawSpan)
  }

  /// Whether a record loss of the cache is not acknowledged yet, or a loss was noted for this flight.
  ///
  /// A custom tier does not tell its losses. A loss matters there if a caller has missed the record since the read
  /// began.
  @inlinable
  func mayHaveLostRecord(of flight: Flight<Value>?, since read: ComparedRead?) -> Bool {
    let hasLostKeys = read?.isMissed ?? secondTier?.partition.hasLostKeys ?? false
    return hasLostKeys || (flight?.hasLostRecord ?? false)
  }

  /// Gives up a promotion whose record the second tier has lost, and returns whether it did.
  ///
  /// Called inside the critical section of the key. Another reader may have found the key absent since. A promotion
  /// would bring the value back.
  ///
  /// - Returns: Whether the record is lost. The outcome is then ``WriteOutcome/recordLost``.
  @inlinable
  func giveUpLostRecord(_ write: PreparedWrite<Key, Value>, _ outcome: inout WriteOutcome) -> Bool {
    guard case .promote = write.intent,
      mayHaveLostRecord(of: write.memoryWrite.condition.witness, since: write.read), lacksRecord(write)
    else { return false }
    outcome = .recordLost
    return true
  }

  @usableFromInline
  @inline(never)
  func lacksRecord(_ write: PreparedWrite<Key, Value>) -> Bool {
    // Without bytes, no record was lost before the critical section, and the lost one may be the key's.
    guard let keyBytes = write.keyBytes, let partition = secondTier?.partition else { return true }
    if partition.isLost(keyBytes.rawSpan) { return true }
    let isNoted = write.memoryWrite.condition.witness?.hasLostRecord ?? false
    return isNoted && presence(of: keyBytes) != .readable
  }

  @usableFromInline
  func replaceEdits(of key: Key, by new: ShownEdits<Key, Value>?, _ effects: inout WriteEffects<Key, Value>) {
    if let new {
      effects.replacedEdits = edits.set(new.kept, for: key)
    } else if !edits.isEmpty {
      effects.replacedEdits = edits.set(nil, for: key)
    }
  }

  /// Stages a write in the second tier. Not inlined, so that a write without one is short.
  @inlinable
  @inline(never)
  func stage(
    _ write: StagedWrite, if condition: RecordCondition? = nil, in batch: BatchToken?,
    _ outcome: inout WriteOutcome
  ) -> StagingOutcome {
    guard let partition = secondTier?.partition else { return .nothing }
    let result =
      if let batch {
        ConditionalStagingResult(partition.stage(write, in: batch))
      } else if let condition {
        partition.stage(write, if: condition)
      } else {
        ConditionalStagingResult(partition.stage(write))
      }
    switch result {
    case .staged(let ticket): outcome = .staged(ticket)
    // The key has another record, and no commit to wait for. The decision is that of a staged write.
    case .dropped: break
    case .refused:
      outcome = .refused(partition.excess(ofRefused: write))
      return .refused
    }
    if case .record = write { return .record }
    return .removal
  }

  /// Returns the write with the invalidation version of its value.
  ///
  /// A fetched value has the version at the start of its fetch, and a set value has the present version. Called inside
  /// the critical section of the key, so no invalidation of this process can come between.
  ///
  /// - Returns: The write with the version.
  @inlinable
  func withVersion(_ write: StagedWrite, fetchedBy flight: Flight<Value>?) -> StagedWrite {
    guard let partition = secondTier?.partition else { return write }
    if let flight { return write.withVersion(invalidationVersion: flight.tierVersion, isSet: false) }
    return write.withVersion(invalidationVersion: partition.invalidationVersion, isSet: true)
  }

  /// Returns the presence of a key's record in the second tier.
  @inlinable
  func presence(of keyBytes: [UInt8]?) -> RecordPresence {
    guard let partition = secondTier?.partition, let keyBytes else { return .absent }
    guard let isThere = partition.presence(of: keyBytes.rawSpan) else { return .unknown }
    if !isThere { return .absent }
    return isForeign(keyBytes) ? .foreign : .readable
  }

  /// Whether a newer version of the schema wrote the record of a key.
  @usableFromInline
  func isForeign(_ keyBytes: [UInt8]) -> Bool {
    guard let partition = secondTier?.partition else { return false }
    return partition.schemaVersion(of: keyBytes.rawSpan).map { $0 > schemaVersion } ?? false
  }

  /// Returns an event with its key and value.
  @inlinable
  func change(_ event: WriteEvent, of key: Key, to value: Value?) -> Change<Key, Value>.Event {
    switch (event, value) {
    case (.inserted, let value?): .inserted(key, value)
    case (.updated, let value?), (.unannounced, let value?): .updated(key, value)
    case (.removed(let cause), _): .removed(key, cause)
    case (.inserted, nil), (.updated, nil), (.unannounced, nil):
      preconditionFailure("an insertion or update must have a value")
    }
  }

  /// Delivers recorded changes to observers. Call it after each critical section that may have recorded one, or staged
  /// a write.
  @inlinable
  func deliverChanges() {
    if let secondTier, secondTier.partition.mustRemoveAll { removeAllRecordsIfRequired() }
    if observers.isObserved { observers.deliver() }
  }
}
