/// The state of a key when a writer read it. A dependent write applies only if the version still stands.
@usableFromInline
struct ReadSnapshot<Key: Hashable & Sendable, Value: Sendable> {
  /// The value that may be returned: fresh, or in grace.
  @usableFromInline var usable: Value?
  /// Whether that value is past its lifetime.
  @usableFromInline var isStale = false
  /// The lifetime of the value.
  @usableFromInline var timing = Timing.plain(until: .distantFuture)
  /// The value that observers saw last, including unconfirmed edits; nil if it is not known.
  @usableFromInline var shown: Value?
  /// The unconfirmed edits of the key; nil for none. The usable value is the one below them.
  @usableFromInline var edited: EditedKeys<Key, Value>.Edited?
  /// Whether the key has a record of a newer version of the schema alone. The key reads as absent, and the record
  /// stays.
  @usableFromInline var hasForeignRecord = false
  @usableFromInline let version: KeyVersion
  /// The flight that the reader asked about, if the entry is its own.
  @usableFromInline let flight: Flight<Value>?

  @inlinable
  init(version: KeyVersion, flight: Flight<Value>?) {
    self.version = version
    self.flight = flight
  }

  /// The fresh value.
  @inlinable
  var value: Value? { isStale ? nil : usable }

  /// Whether the key has unconfirmed edits over a value whose lifetime has ended.
  var isGoneUnderEdits: Bool {
    guard let edited, usable == nil else { return false }
    return edited.queue.base != nil
  }

  /// The condition of a write that depends on this read.
  @inlinable
  var condition: WriteCondition<Value> { .unchanged(since: version, of: flight) }
}
