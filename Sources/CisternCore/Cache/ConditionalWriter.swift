/// Writes that depend on the cached value. A writer reads the value with its version, makes another one of it outside
/// all locks, and stores that if the version still stands. Otherwise, it begins again.
@usableFromInline
final class ConditionalWriter<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Snapshot = ReadSnapshot<Key, Value>

  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let secondTier: SecondTierBinding<Key>?
  @usableFromInline let reports: CacheReports
  @usableFromInline let records: SecondTierReader<Key, Value>
  @usableFromInline let writes: WritePipeline<Key, Value>
  @usableFromInline let optimisticEdits: OptimisticEdits<Key, Value>
  @usableFromInline let keptTags: KeptTags<Value>
  @usableFromInline let merge: (@Sendable (Value, Value) throws -> Value)?
  @usableFromInline let isEqual: (@Sendable (Value, Value) -> Bool)?

  /// Whether a write reads the cached value first, to merge the new value with it or to compare the two.
  var dependsOnCached: Bool { merge != nil || isEqual != nil }

  init(
    _ parts: CacheParts<Key, Value>, records: SecondTierReader<Key, Value>,
    optimisticEdits: OptimisticEdits<Key, Value>, keptTags: KeptTags<Value>,
    _ configuration: CacheConfiguration<Value>
  ) {
    table = parts.table
    secondTier = parts.secondTier
    reports = parts.reports
    self.records = records
    writes = records.writes
    self.optimisticEdits = optimisticEdits
    self.keptTags = keptTags
    merge = configuration.merge
    isEqual = configuration.isEqual
  }
}

extension ConditionalWriter {
  /// Reads, decides and writes. Repeats this until no other write of the key came between its read and its write.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: The options of the write.
  ///   - decide: Returns the new state of the key. May be called several times.
  /// - Returns: The applied write.
  /// - Throws: The error of `decide`.
  @inlinable
  func readModifyWrite<Failure: Error>(
    _ key: HashedKey<Key>, options: ReplacementOptions, _ decide: (Snapshot) throws(Failure) -> Replacement<Value>
  ) throws(Failure) -> AppliedWrite<Value> {
    table.watch(key)
    defer { table.unwatch(key) }
    while true {
      let snapshot = records.snapshot(of: key)
      let replacement = try decide(snapshot)
      if let written = compareAndSet(replacement, of: key, replacing: snapshot, options: options) { return written }
    }
  }

  /// Makes a write that depends on a read. Returns nil if the read does not stand any more.
  @inlinable
  func compareAndSet(
    _ replacement: Replacement<Value>, of key: HashedKey<Key>, replacing snapshot: Snapshot, options: ReplacementOptions
  ) -> AppliedWrite<Value>? {
    switch replacement {
    case .keep:
      return AppliedWrite(value: snapshot.value, outcome: .nothing)
    case .remove:
      let outcome = remove(
        key, if: snapshot.condition,
        record: snapshot.hasForeignRecord ? .none : options.stagesRemovals ? .always : .ifPresent,
        context: options.context)
      return outcome.map { AppliedWrite(value: nil, outcome: $0) }
    case .store(let value):
      var (write, encodingError) = prepare(value, of: key, replacing: snapshot, options: options)
      // An equal value concerns no write that depends on the key. Other tags do: such a write would keep the older
      // ones.
      if case .store(.addition, isAnnounced: false) = write.intent,
        write.memoryWrite.preparedValue?.timing.tags == snapshot.timing.tags
      {
        write.intent = .store(effect: .maintenance, isAnnounced: false)
      }
      let outcome = writes.apply(write, to: key)
      let shown = if let shownEdits = write.shownEdits { shownEdits.edited.shown } else { Value?.some(value) }
      return outcome.map {
        AppliedWrite(value: shown, outcome: $0, encodingError: encodingError, timing: write.storedTiming)
      }
    }
  }

  /// Prepares the write of a value that depends on a read. If the key has unconfirmed edits, the value is the confirmed
  /// one.
  @inlinable
  func prepare(
    _ value: Value, of key: HashedKey<Key>, replacing snapshot: Snapshot, options: ReplacementOptions
  ) -> (PreparedWrite<Key, Value>, encodingError: (any Error)?) {
    let options = keptTags.keepingTags(of: snapshot, options)
    if let edited = snapshot.edited {
      let write = optimisticEdits.prepare(value, below: edited, replacing: snapshot, of: key, options: options)
      return (write, write.shownEdits?.encodingError)
    }
    let isSame = snapshot.usable.map { isEqual?($0, value) ?? false } ?? false
    let encoded = writes.encode(value, for: key, options.writeOptions)
    // Values whose fetches began before a removal are not merged with later ones.
    let effect = encoded.removesKey && options.effect == .addition ? WriteEffect.replacement : options.effect
    let store = StoringOptions<Value>(
      if: snapshot.condition, effect: effect, isAnnounced: !isSame, context: options.context)
    let write = PreparedWrite<Key, Value>(encoded, options: store)
    return (write, encoded.encodingError)
  }

  /// Removes a key from both tiers. Returns nil if the condition does not hold.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - condition: The condition of the removal.
  ///   - record: The removal of the record.
  ///   - context: The writer.
  /// - Returns: The outcome in the second tier; nil if the condition does not hold.
  @inlinable
  @discardableResult
  func remove(
    _ key: HashedKey<Key>, if condition: WriteCondition<Value> = .always,
    record: RecordRemoval = .ifPresent, context: WriterContext?
  ) -> WriteOutcome? {
    let keyBytes = record == .none ? nil : secondTier?.bytes(key.key)
    // An ended value is an expiration, and no removal of a present key.
    records.endUnnoticed(key, isCounted: true)
    return writes.apply(
      PreparedWrite(removing: keyBytes, if: condition, stagesAlways: record == .always, context: context), to: key)
  }
}
