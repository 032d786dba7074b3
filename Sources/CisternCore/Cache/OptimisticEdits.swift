/// Edits that are shown before they are confirmed. Memory and observers have the value that the edits make of the
/// confirmed one. The second tier has the confirmed value alone.
@usableFromInline
final class OptimisticEdits<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Edited = EditedKeys<Key, Value>.Edited

  private let table: EntryTable<Key, Value>
  private let secondTier: SecondTierBinding<Key>?
  private let lifetimes: Lifetimes<Key, Value>
  private let records: SecondTierReader<Key, Value>
  private let writes: WritePipeline<Key, Value>
  private let keptTags: KeptTags<Value>
  private let isEqual: (@Sendable (Value, Value) -> Bool)?

  init(
    _ parts: CacheParts<Key, Value>, records: SecondTierReader<Key, Value>, keptTags: KeptTags<Value>,
    isEqual: (@Sendable (Value, Value) -> Bool)?
  ) {
    table = parts.table
    secondTier = parts.secondTier
    lifetimes = parts.lifetimes
    self.records = records
    writes = records.writes
    self.keptTags = keptTags
    self.isEqual = isEqual
  }
}

/// The effect of a change on a key's edits.
enum EditChange {
  /// The edits stay as they are.
  case nothing
  /// They show another value.
  case shows
  /// The confirmed value changes.
  case confirms
  /// The confirmed value changes, and the shown value stays.
  case confirmsShownValue
}

extension OptimisticEdits {
  /// Changes the edits of a key, and shows the value that they make of the confirmed one. Begins again if the key is
  /// written in between.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: The options of a confirmed value.
  ///   - change: Changes the edits. Gets the confirmed value below them; nil if its lifetime has ended. May be called
  ///     several times.
  /// - Returns: The edits after the change; nil if it changed nothing. They have no confirmed value if no tier
  ///   holds it.
  /// - Throws: The error of `change`.
  @discardableResult
  func changeEdits<Failure: Error>(
    _ key: HashedKey<Key>, options: ReplacementOptions,
    _ change: (inout EditQueue<Value>, _ usable: Value?) throws(Failure) -> EditChange
  ) throws(Failure) -> Edited? {
    while true {
      let snapshot = records.snapshot(of: key)
      var edited = snapshot.edited ?? Edited(queue: EditQueue(base: snapshot.usable), timing: snapshot.timing)
      let effect = try change(&edited.queue, snapshot.usable)
      if case .nothing = effect { return nil }
      edited.shown = edited.queue.shown()
      let keeping = keptTags.keepingTags(of: snapshot, options)
      let write = prepare(edited, replacing: snapshot, of: key, options: keeping, after: effect)
      var effects = WriteEffects<Key, Value>()
      // Released outside the lock.
      defer { withExtendedLifetime(effects.replacedEdits) {} }
      guard writes.apply(write, to: key, &effects) else { continue }
      if effects.isRefused { edited.queue.replaceBase(by: nil) }
      return edited
    }
  }

  /// Prepares the write of another confirmed value below the edits of a key; nil for none.
  @usableFromInline
  func prepare(
    _ value: Value?, below current: Edited, replacing snapshot: ReadSnapshot<Key, Value>, of key: HashedKey<Key>,
    options: ReplacementOptions
  ) -> PreparedWrite<Key, Value> {
    var edited = current
    edited.queue.replaceBase(by: value)
    edited.shown = edited.queue.shown()
    return prepare(edited, replacing: snapshot, of: key, options: options, after: .confirms)
  }

  /// Returns the value that the edits of a key make of a confirmed value.
  func view(over confirmed: Value, of key: Key) -> EditView<Value> {
    guard var queue = records.edits.isEmpty ? nil : records.edits[key]?.queue else { return .unedited }
    queue.replaceBase(by: confirmed)
    return .shows(queue.shown())
  }

  /// Weighs and encodes, outside all locks.
  ///
  /// - Parameters:
  ///   - new: The edits after the change.
  ///   - snapshot: The state of the key before the change.
  ///   - key: The key.
  ///   - options: The options of the confirmed value, if that changes.
  ///   - change: The change of the edits.
  /// - Returns: The write.
  private func prepare(
    _ new: Edited, replacing snapshot: ReadSnapshot<Key, Value>, of key: HashedKey<Key>, options: ReplacementOptions,
    after change: EditChange
  ) -> PreparedWrite<Key, Value> {
    var edited = new
    let keyBytes = secondTier?.bytes(key.key)
    var confirmed = ConfirmedWrite()
    if change == .confirms || change == .confirmsShownValue {
      confirmed = encodeConfirmed(&edited, of: key, keyBytes, replacing: snapshot, options.writeOptions)
    }
    if edited.queue.isEmpty {
      removeEnded(&edited, &confirmed, keyBytes)
    } else {
      edited.beginShowing(at: lifetimes.clock.now(), measuresAge: lifetimes.measuresAge)
    }
    let timing = edited.queue.isEmpty ? edited.timing : edited.shownTiming
    if !timing.isForever { lifetimes.noteDeadline() }
    let preparedValue = edited.shown.map { PreparedValue(value: $0, cost: cost(ofShown: $0), timing: timing) }
    var intent = intent(showing: edited, confirmed.confirmation, replacing: snapshot, after: change)
    intent.effect = options.effect
    var write = PreparedWrite<Key, Value>(
      .show(intent), MemoryWrite(preparedValue, if: condition(of: edited, confirmed.confirmation, replacing: snapshot)),
      tierWrite: confirmed.tierWrite, keyBytes: keyBytes)
    write.recordCondition = confirmed.recordCondition
    write.shownEdits = ShownEdits(edited, encodingError: confirmed.encodingError)
    write.context = options.context
    return write
  }

  /// The write of the confirmed value below the edits.
  private struct ConfirmedWrite {
    /// The write of the second tier; nil for none.
    var tierWrite: StagedWrite?
    /// The record that the write may remove; nil for any.
    var recordCondition: RecordCondition?
    /// The change of the confirmed value; nil for none.
    var confirmation: ShownWrite.Confirmation?
    var encodingError: (any Error)?
  }

  /// Encodes the confirmed value below the edits, and sets its timing. The edits lose a confirmed value that is not
  /// stored.
  private func encodeConfirmed(
    _ edited: inout Edited, of key: HashedKey<Key>, _ keyBytes: [UInt8]?, replacing snapshot: ReadSnapshot<Key, Value>,
    _ options: WriteOptions
  ) -> ConfirmedWrite {
    let encoded = edited.queue.base.map { writes.encode($0, for: key, options) }
    var confirmed = ConfirmedWrite(confirmation: .stored, encodingError: encoded?.encodingError)
    confirmed.tierWrite = encoded?.tierWrite ?? (snapshot.hasForeignRecord ? nil : keyBytes.map { .removal(key: $0) })
    if encoded == nil { confirmed.confirmation = snapshot.usable == nil ? .stillAbsent : .removed }
    edited.timing = encoded?.preparedValue?.timing ?? .plain(until: .distantFuture)
    // A lifetime of zero, or a value whose size is not known: nothing is stored.
    if let encoded, encoded.preparedValue == nil {
      edited.queue.replaceBase(by: nil)
      edited.shown = edited.queue.shown()
      confirmed.confirmation = .refused
    }
    return confirmed
  }

  /// Removes the confirmed value of a key without edits, if its lifetime has ended.
  private func removeEnded(_ edited: inout Edited, _ confirmed: inout ConfirmedWrite, _ keyBytes: [UInt8]?) {
    guard edited.timing.freshness(at: lifetimes.clock.now()) == .gone else { return }
    edited.shown = nil
    // The record goes too: a read that finds it would announce its end again.
    if confirmed.tierWrite == nil {
      confirmed.tierWrite = keyBytes.map { .removal(key: $0) }
      confirmed.recordCondition = .ended(by: lifetimes.wallNow())
    }
  }

  private func intent(
    showing edited: Edited, _ confirmation: ShownWrite.Confirmation?, replacing snapshot: ReadSnapshot<Key, Value>,
    after change: EditChange
  ) -> ShownWrite {
    let isShownAlready = change == .confirmsShownValue && confirmation != .refused
    let isAnnounced = !isShownAlready && !isSame(edited.shown, as: snapshot)
    var intent = ShownWrite(
      isPending: !edited.queue.isEmpty, hasValue: edited.shown != nil, isAnnounced: isAnnounced)
    intent.confirmation = confirmation
    if confirmation == .refused {
      intent.removalCause = .refused
    } else if snapshot.isGoneUnderEdits {
      intent.removalCause = .expired
    }
    return intent
  }

  /// The condition of a write of edits. The write of a flight's value below edits depends on the flight, too.
  private func condition(
    of edited: Edited, _ confirmation: ShownWrite.Confirmation?, replacing snapshot: ReadSnapshot<Key, Value>
  ) -> WriteCondition<Value> {
    guard let flight = snapshot.flight else { return snapshot.condition }
    let hasFetched = confirmation == .stored || confirmation == .refused
    return .belowEdits(flight, since: snapshot.version, fetchedTags: hasFetched ? edited.timing.tags : nil)
  }

  /// The cost of a shown value in memory. A value that cannot be encoded has no known size and counts as larger than
  /// any limit: it is kept with its edits.
  private func cost(ofShown value: Value) -> UInt32 {
    guard writes.weigher == nil, let codec = writes.codec else { return writes.cost(of: value, encodedSize: 1) }
    return writes.cost(of: value, encodedSize: codec.encodedSize(value) ?? (try? codec.encode(value).count) ?? .max)
  }

  private func isSame(_ shown: Value?, as snapshot: ReadSnapshot<Key, Value>) -> Bool {
    guard let isEqual, let shown, let former = snapshot.shown else { return false }
    return isEqual(former, shown)
  }
}
