/// The decision on a write of one key: the change of the entry, the event for observers, and the counter.
///
/// It has no state. Its two effects are parameters: `ask` reads the presence of the record, and `stage` stages the
/// write.
///
/// `EntryTable` enters the key's critical section, checks the ``WriteCondition``, asks for the decision and applies it.
/// A batch is several such writes in one critical section. ``Entry`` decides about flights; this type decides about the
/// two tiers.
@usableFromInline
struct WriteDecision: Sendable, Hashable {
  /// The change of the key's entry.
  @usableFromInline let entry: EntryChange
  /// The meaning of the write for the writers and fetches that began before it.
  @usableFromInline let effect: WriteEffect
  /// The meaning of the write for the unconfirmed edits of the key.
  @usableFromInline let edits: EditMark
  /// The event for observers; nil for none.
  @usableFromInline let event: WriteEvent?
  /// The counter that the write adds one to; nil for none.
  @usableFromInline let counter: WriteCounter?

  @inlinable
  init(
    _ entry: EntryChange, effect: WriteEffect = .maintenance, edits: EditMark = .unchanged, event: WriteEvent? = nil,
    counter: WriteCounter? = nil
  ) {
    self.entry = entry
    self.effect = effect
    self.edits = edits
    self.event = event
    self.counter = counter
  }

  /// The removal of an entry in a table without a second tier and without observers.
  @inlinable
  static var forget: WriteDecision {
    WriteDecision(.replace(.memoryOnly, keepsFlight: false), effect: .replacement)
  }
}

/// A change of one entry by a write.
@usableFromInline
enum EntryChange: Sendable, Hashable {
  /// The value of the write, if memory holds one, replaces the older one. Otherwise, the entry has no value.
  case replace(Residency, keepsFlight: Bool)
  /// Removes the value. A flight that refreshes it continues.
  case loseValue
  /// The second tier does not have the value any more.
  case loseRecord
  /// Nothing.
  case unchanged
}

/// An event of one key, without the key and the value.
@usableFromInline
enum WriteEvent: Sendable, Hashable {
  case inserted
  case updated
  /// The key has a value that observers know already. Only observers of a tag's contents need it, because its tags may
  /// differ.
  case unannounced
  case removed(RemovalCause)
}

/// The state of a key before a write, and the room for its new value.
@usableFromInline
struct WriteSituation: Sendable, Hashable {
  /// Whether memory has a value of the key.
  @usableFromInline var isInMemory: Bool
  /// Whether memory will hold the value of the write.
  @usableFromInline var isHeld: Bool
  /// Whether the cache has observers.
  @usableFromInline var isObserved: Bool
  /// Whether the key's unconfirmed edits show a value; nil for a key without edits.
  @usableFromInline var shownByEdits: Bool?

  @inlinable
  init(isInMemory: Bool, isHeld: Bool, isObserved: Bool) {
    self.isInMemory = isInMemory
    self.isHeld = isHeld
    self.isObserved = isObserved
  }
}

/// The record of a key in the second tier before a write.
@usableFromInline
enum RecordPresence: Sendable, Hashable, CaseIterable {
  case absent
  /// A record that readers may get.
  case readable
  /// A record of a newer version of the schema. Readers and observers take its key for absent.
  case foreign
  /// The tier cannot tell, or is not asked.
  case unknown
}

/// The answer of the second tier to a write.
@usableFromInline
enum StagingOutcome: Sendable, Hashable, CaseIterable {
  /// No write was staged.
  case nothing
  /// It took the key's new record.
  case record
  /// It took the key's removal.
  case removal
  /// It refused the write. The key has no record now.
  case refused
}
