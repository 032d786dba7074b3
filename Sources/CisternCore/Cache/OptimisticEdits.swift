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

  /// Returns the value that the edits of a key make of a confirmed value, or `.some(nil)` if they show none. Returns
  /// nil for a key without edits.
  func shownValue(over confirmed: Value, of key: Key) -> Value?? {
    guard var queue = records.edits.isEmpty ? nil : records.edits[key]?.queue else { return nil }
    queue.replaceBase(by: confirmed)
    return .some(queue.shown())
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
    var staged: StagedWrite?
    var recordCondition: RecordCondition?
    var encodingError: (any Error)?
    var confirmation: ShownWrite.Confirmation?
    if change == .confirms || change == .confirmsShownValue {
      let encoded = edited.queue.base.map { writes.encode($0, for: key, options.writeOptions) }
      staged = encoded?.staged ?? (snapshot.hasForeignRecord ? nil : keyBytes.map { .removal(key: $0) })
      encodingError = encoded?.encodingError
      confirmation = .stored
      if encoded == nil { confirmation = snapshot.usable == nil ? .stillAbsent : .removed }
      edited.timing = encoded?.preparedValue?.timing ?? .plain(until: .distantFuture)
      // A lifetime of zero, or a value whose size is not known: nothing is stored.
      if let encoded, encoded.preparedValue == nil {
        edited.queue.replaceBase(by: nil)
        edited.shown = edited.queue.shown()
        confirmation = .refused
      }
    }
    let isSettled = edited.queue.isEmpty
    if isSettled, edited.timing.freshness(at: lifetimes.clock.now()) == .gone {
      edited.shown = nil
      // The record goes too: a read that finds it would announce its end again.
      if staged == nil {
        staged = keyBytes.map { .removal(key: $0) }
        recordCondition = .ended(by: lifetimes.wallNow())
      }
    }
    if !isSettled { edited.beginShowing(at: lifetimes.clock.now(), measuresAge: lifetimes.measuresAge) }
    let timing = isSettled ? edited.timing : edited.shownTiming
    if !timing.isForever { lifetimes.noteDeadline() }
    let preparedValue = edited.shown.map { PreparedValue(value: $0, cost: cost(ofShown: $0), timing: timing) }
    let isShownAlready = change == .confirmsShownValue && confirmation != .refused
    let isAnnounced = !isShownAlready && !isSame(edited.shown, as: snapshot)
    let hasValue = edited.shown != nil
    var intent = ShownWrite(isPending: !isSettled, hasValue: hasValue, isAnnounced: isAnnounced)
    intent.effect = options.effect
    intent.confirmation = confirmation
    if confirmation == .refused {
      intent.removalCause = .refused
    } else if snapshot.isGoneUnderEdits {
      intent.removalCause = .expired
    }
    var condition = snapshot.condition
    if let flight = snapshot.flight {
      let hasFetched = confirmation == .stored || confirmation == .refused
      condition = .belowEdits(flight, since: snapshot.version, fetchedTags: hasFetched ? edited.timing.tags : nil)
    }
    var write = PreparedWrite<Key, Value>(
      .show(intent), EntryWrite(preparedValue, if: condition), staged: staged, keyBytes: keyBytes)
    write.recordCondition = recordCondition
    write.edits = ShownEdits(edited, encodingError: encodingError)
    write.context = options.context
    return write
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
