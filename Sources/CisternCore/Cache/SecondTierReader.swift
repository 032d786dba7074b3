/// Brings values of the second tier into memory, and removes records that cannot be used.
@usableFromInline
final class SecondTierReader<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let secondTier: SecondTierBinding<Key>?
  @usableFromInline let observers: ObserverRegistry<Key, Value>
  @usableFromInline let edits: EditedKeys<Key, Value>
  @usableFromInline let lifetimes: Lifetimes<Key, Value>
  @usableFromInline let reports: CacheReports
  @usableFromInline let codec: ValueCodec<Value>?
  @usableFromInline let writes: WritePipeline<Key, Value>
  let migrate: CacheSchema<Value>.Migration?

  init(
    _ parts: CacheParts<Key, Value>, writes: WritePipeline<Key, Value>, migrate: CacheSchema<Value>.Migration?
  ) {
    table = parts.table
    secondTier = parts.secondTier
    observers = parts.observers
    edits = parts.edits
    lifetimes = parts.lifetimes
    reports = parts.reports
    codec = parts.codec
    self.writes = writes
    self.migrate = migrate
  }

  /// The version of the schema that records are written in.
  @inlinable
  var schemaVersion: UInt32 { writes.schemaVersion }
}

extension SecondTierReader {
  /// Decodes a record, outside all locks and transactions.
  @inlinable
  func interpret(_ record: StoredRecord, of key: HashedKey<Key>) -> RecordInterpretation<Value> {
    guard let codec else { return .unusable(.undecodable, record.identity) }
    // The metadata is read in place, because a copy of it is large.
    guard record.metadata.schemaVersion == schemaVersion else { return interpretOther(record, of: key) }
    let timing =
      table.retryPauses.isEmpty
      ? lifetimes.timing(of: record.metadata) : lifetimes.timing(of: record.metadata, pausedFor: key)
    guard let timing else { return .unusable(.expired, record.identity) }
    do {
      let value = try codec.decode(record.bytes, isNegative: record.metadata.isNegative)
      let preparedValue = PreparedValue(value: value, cost: max(1, record.metadata.cost), timing: timing)
      let rewriting = record.metadata.idle == 0 ? nil : rewritingUse(record, of: key.key)
      return .usable(DecodedRecord(preparedValue, rewriting: rewriting))
    } catch {
      return undecodable(record.identity, of: key, error)
    }
  }

  /// Puts the value of a record into memory, with the cost and the lifetime that it was stored with.
  ///
  /// Usually the key's value does not change.
  ///
  /// - Parameters:
  ///   - found: The value of the record.
  ///   - key: The key.
  ///   - condition: The condition of the write.
  ///   - isNeeded: Whether a waiter must find the value in memory. The policy is then not asked.
  ///   - hit: The read, to be counted.
  /// - Returns: The outcome.
  @inlinable
  @discardableResult
  func promote(
    _ found: DecodedRecord<Value>, of key: HashedKey<Key>, if condition: WriteCondition<Value>, isNeeded: Bool = false,
    hit: RecordHit = .uncounted
  ) -> Promotion {
    let rewriting = found.timing.lastAccess == nil ? found.rewriting : noteUseAndTakeRewrite(of: found, hit)
    // Memory cannot hold the value, and the key is absent there: nothing would change.
    if case .untouched = condition, rewriting == nil, !table.canHold(found.preparedValue.cost) {
      table.count(key.hash) { $0.count(hit) }
      return .done
    }
    if rewriting?.reason == .migration { secondTier?.partition.waitForRoom() }
    var keepsFlight = false
    if case .beside = condition { keepsFlight = true }
    // Before the critical section: the user's code makes the bytes.
    let mayBeLost = writes.mayHaveLostRecord(of: condition.witness, since: found.read)
    let keyBytes = mayBeLost ? secondTier?.bytes(key.key) : nil
    var write = PreparedWrite<Key, Value>(
      .promote(keepsFlight: keepsFlight, rewriting: rewriting?.reason),
      MemoryWrite(found.preparedValue, if: condition, isNeeded: isNeeded, hit: hit), tierWrite: rewriting?.tierWrite,
      keyBytes: keyBytes)
    write.recordCondition = rewriting.map { .identity($0.replaced) }
    write.read = found.read
    guard let outcome = writes.apply(write, to: key) else { return .overtaken }
    if case .recordLost = outcome { return .recordLost }
    return .done
  }

  /// Removes a record that cannot be used, unless the key was written since it was read.
  @usableFromInline
  func discard(
    _ interpretation: RecordInterpretation<Value>, of key: HashedKey<Key>, if condition: WriteCondition<Value>,
    isCounted: Bool = true
  ) {
    guard let secondTier, case .unusable(let reason, let record) = interpretation else { return }
    let keyBytes = secondTier.bytes(key.key)
    var write = PreparedWrite<Key, Value>(
      .discard(reason, isCounted: isCounted), MemoryWrite(nil, if: condition), tierWrite: .removal(key: keyBytes),
      keyBytes: keyBytes)
    write.recordCondition = .identity(record)
    writes.apply(write, to: key)
  }

  /// Handles records that the second tier lost. The tier calls it outside all locks and transactions.
  func handleRecordLosses(_ losses: [RecordLoss]) {
    guard let secondTier else { return }
    for loss in losses {
      guard let key = secondTier.key(loss.key).map({ table.hashed($0) }) else { continue }
      var cause = LossCause.failed
      if case .evicted = loss.cause {
        cause = .evicted
        table.count(key.hash) { $0.diskEvictions += 1 }
      }
      table.applyRecordLoss(of: key) { isInMemory in
        // Before the acknowledgment: an enumeration that does not find the loss in the tier must find it here.
        if isInMemory || !edits.isEmpty { table.walks.noteLoss(of: loss.key) }
        return secondTier.partition.acknowledgeLoss(of: loss.key.rawSpan)
      } decide: { had in
        var situation = WriteSituation(
          isInMemory: had != nil, willBeInMemory: false, isObserved: observers.isObserved)
        situation.edits = viewOfEdits(of: key.key).presence
        // Readers and observers take the record of a newer schema version as absent.
        situation.isObserved = situation.isObserved && loss.schemaVersion <= schemaVersion
        let decision = WriteDecision.decide(
          .noteRecordLoss(cause), in: situation, recordPresence: { .absent }, stage: { .nothing })
        if let event = decision.event {
          observers.record(PendingChange(writes.change(event, of: key.key, to: nil), tags: .unknown))
        }
        return decision
      }
    }
    if secondTier.partition.hasLostFile { handleFileLoss(secondTier) }
    writes.deliverChanges()
  }
}

// MARK: Edits

extension SecondTierReader {
  /// Returns the value that the unconfirmed edits of a key show.
  @inlinable
  func viewOfEdits(of key: Key) -> EditView<Value> { edits.isEmpty ? .unedited : viewOfLiveEdits(of: key) }

  @usableFromInline
  func viewOfLiveEdits(of key: Key) -> EditView<Value> { edits[key].map { .shows($0.shown) } ?? .unedited }

  /// Returns whether the unconfirmed edits of a key show a value.
  @inlinable
  func isShownByEdits(_ key: Key) -> Bool { !edits.isEmpty && isShownByLiveEdits(key) }

  @usableFromInline
  func isShownByLiveEdits(_ key: Key) -> Bool { edits.showsValue(of: key) }
}
