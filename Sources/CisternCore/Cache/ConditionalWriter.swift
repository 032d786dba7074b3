/// Writes that depend on the cached value. A writer reads the value with its version, makes another one of it outside all locks, and
/// stores that if the version still stands. Else it begins again.
@usableFromInline
final class ConditionalWriter<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Snapshot = ReadSnapshot<Key, Value>

  @usableFromInline let table: EntryTable<Key, Value>
  @usableFromInline let secondTier: SecondTierBinding<Key>?
  @usableFromInline let reports: CacheReports
  @usableFromInline let records: RecordPromoter<Key, Value>
  @usableFromInline let writes: WritePipeline<Key, Value>
  @usableFromInline let edits: OptimisticEdits<Key, Value>
  @usableFromInline let keptTags: KeptTags<Value>
  @usableFromInline let merge: (@Sendable (Value, Value) throws -> Value)?
  @usableFromInline let isEqual: (@Sendable (Value, Value) -> Bool)?

  init(
    _ parts: CacheParts<Key, Value>, records: RecordPromoter<Key, Value>, edits: OptimisticEdits<Key, Value>,
    keptTags: KeptTags<Value>, _ configuration: CacheConfiguration<Value>
  ) {
    table = parts.table
    secondTier = parts.secondTier
    reports = parts.reports
    self.records = records
    writes = records.writes
    self.edits = edits
    self.keptTags = keptTags
    merge = configuration.merge
    isEqual = configuration.isEqual
  }
}

/// The new state of a key.
@usableFromInline
enum Replacement<Value: Sendable>: Sendable {
  /// The key has this value.
  case store(Value)
  /// The key has no value.
  case remove
  /// The key stays as it is.
  case keep

  /// The replacement that gives a key `value`; nil removes the key.
  ///
  /// A key without a fresh value is removed, too: it may have a value in grace, a flight or unconfirmed edits.
  @inlinable
  init(_ value: Value?) {
    self = value.map { .store($0) } ?? .remove
  }
}

/// The terms of a dependent write.
@usableFromInline
struct ReplacementTerms: Sendable {
  @usableFromInline let storing: Storing
  @usableFromInline let effect: WriteEffect
  @usableFromInline let context: WriterContext?
  /// Whether the removal of an absent key is staged, too: an earlier removal may not be committed yet.
  @usableFromInline let stagesRemovals: Bool

  @inlinable
  init(
    _ storing: Storing, effect: WriteEffect = .replacement, context: WriterContext? = nil, stagesRemovals: Bool = false
  ) {
    self.storing = storing
    self.effect = effect
    self.context = context
    self.stagesRemovals = stagesRemovals
  }
}

extension ConditionalWriter {
  /// Reads, decides and writes, until the key was not written in between.
  ///
  /// - Parameter decide: returns the new state of the key. May be called several times.
  @inlinable
  func readModifyWrite<Failure: Error>(
    _ key: HashedKey<Key>, on terms: ReplacementTerms, _ decide: (Snapshot) throws(Failure) -> Replacement<Value>
  ) throws(Failure) -> Written<Value> {
    table.watch(key.hash)
    defer { table.unwatch(key.hash) }
    while true {
      let snapshot = records.snapshot(of: key)
      let replacement = try decide(snapshot)
      if let written = compareAndSet(replacement, of: key, replacing: snapshot, on: terms) { return written }
    }
  }

  /// Makes a write that depends on a read. Returns nil if the read does not stand any more.
  @inlinable
  func compareAndSet(
    _ replacement: Replacement<Value>, of key: HashedKey<Key>, replacing snapshot: Snapshot, on terms: ReplacementTerms
  ) -> Written<Value>? {
    switch replacement {
    case .keep:
      return Written(value: snapshot.value, outcome: .nothing)
    case .remove:
      records.noticeExpiry(of: key)
      let write = PreparedWrite<Key, Value>(
        removing: snapshot.hasForeignRecord ? nil : secondTier?.bytes(key.key), if: snapshot.condition,
        stagesAlways: terms.stagesRemovals, context: terms.context)
      let outcome = writes.apply(write, to: key)
      return outcome.map { Written(value: nil, outcome: $0) }
    case .store(let value):
      var (write, encodingError) = prepare(value, of: key, replacing: snapshot, on: terms)
      // An equal value concerns no write that depends on the key. Other tags do: such a write would keep the older ones.
      if case .store(.arrival, isAnnounced: false) = write.intent,
        write.entry.arrival?.timing.tags == snapshot.timing.tags
      {
        write.intent = .store(effect: .upkeep, isAnnounced: false)
      }
      let outcome = writes.apply(write, to: key)
      let shown = if let edits = write.edits { edits.edited.shown } else { Value?.some(value) }
      return outcome.map { Written(value: shown, outcome: $0, encodingError: encodingError) }
    }
  }

  /// Prepares the write of a value that depends on a read. If the key has unconfirmed edits, the value is the confirmed one.
  @inlinable
  func prepare(
    _ value: Value, of key: HashedKey<Key>, replacing snapshot: Snapshot, on terms: ReplacementTerms
  ) -> (PreparedWrite<Key, Value>, encodingError: (any Error)?) {
    let terms = keptTags.keepingTags(of: snapshot, terms)
    if let edited = snapshot.edited {
      let write = edits.prepare(value, below: edited, replacing: snapshot, of: key, on: terms)
      return (write, write.edits?.encodingError)
    }
    let isSame = snapshot.usable.map { isEqual?($0, value) ?? false } ?? false
    let encoded = writes.encode(value, for: key, terms.storing)
    let store = StoreTerms<Value>(
      if: snapshot.condition, effect: terms.effect, isAnnounced: !isSame, context: terms.context)
    let write = PreparedWrite<Key, Value>(encoded, on: store)
    return (write, encoded.encodingError)
  }

  /// Removes a key from both tiers. Returns nil if the condition does not hold.
  @inlinable
  @discardableResult
  func remove(
    _ key: HashedKey<Key>, if condition: WriteCondition<Value> = .always, stagesAlways: Bool = false,
    context: WriterContext?
  ) -> WriteOutcome? {
    let keyBytes = secondTier?.bytes(key.key)
    records.noticeExpiry(of: key)
    return writes.apply(
      PreparedWrite(removing: keyBytes, if: condition, stagesAlways: stagesAlways, context: context), to: key)
  }
}
