/// The decision on a write of one key: the change of the entry, the event for observers, and the counter.
///
/// It has no state. Its two effects are parameters: `recordPresence` tells whether the tier has the record, and
/// `stage` stages the write.
///
/// `EntryTable` enters the key's critical section, checks the ``WriteCondition``, asks for the decision and applies it.
/// A batch is several such writes in one critical section. ``Entry`` decides about flights; this type decides about the
/// two tiers.
@usableFromInline
struct WriteDecision: Sendable, Hashable {
  /// The change of the key's entry.
  @usableFromInline let entryChange: EntryChange
  /// The meaning of the write for the writers and fetches that began before it.
  @usableFromInline let effect: WriteEffect
  /// The meaning of the write for the unconfirmed edits of the key.
  @usableFromInline let editMark: EditMark
  /// The event for observers; nil for none.
  @usableFromInline let event: WriteEvent?
  /// The counter that the write adds one to; nil for none.
  @usableFromInline let counter: WriteCounter?

  @inlinable
  init(
    _ entryChange: EntryChange, effect: WriteEffect = .maintenance, editMark: EditMark = .unchanged,
    event: WriteEvent? = nil, counter: WriteCounter? = nil
  ) {
    self.entryChange = entryChange
    self.effect = effect
    self.editMark = editMark
    self.event = event
    self.counter = counter
  }

  /// The removal of an entry in a table without a second tier and without observers.
  @inlinable
  static var forget: WriteDecision {
    WriteDecision(.replace(.memoryOnly, keepsFlight: false), effect: .replacement)
  }
}
