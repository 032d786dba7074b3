/// The optimistic edits of one key: functions over the confirmed value, in the order in which they were made. Pure.
///
/// The shown value is the result of applying all pending edits to the confirmed value, one after the other. A
/// confirmed edit becomes part of the confirmed value, and a failed edit is withdrawn. In both cases, the other edits
/// are applied again, and each one succeeds or fails separately. Edits become part of the confirmed value in the
/// order of their confirmations, which should be the order in which the origin applied them.
///
/// The queue calls the user's functions, so it must be used outside all locks.
struct EditQueue<Value: Sendable>: Sendable {
  typealias Change = @Sendable (Value?) -> Value?

  struct Edit: Sendable {
    let number: EditNumber
    let change: Change
  }

  /// The confirmed value, or nil if the key is absent.
  private(set) var base: Value?
  /// The edits that are neither confirmed nor withdrawn.
  private(set) var pending: [Edit] = []

  init(base: Value?) {
    self.base = base
  }

  /// Whether no edit is pending, so that the shown value is confirmed.
  var isEmpty: Bool { pending.isEmpty }

  func contains(_ number: EditNumber) -> Bool { pending.contains { $0.number == number } }

  /// Returns the shown value. Applies every pending edit.
  func shown() -> Value? { pending.reduce(base) { value, edit in edit.change(value) } }

  /// Adds an edit after the pending ones.
  mutating func add(_ edit: Edit) {
    pending.append(edit)
  }

  /// Replaces the confirmed value after a load, a set or another write of the key.
  mutating func replaceBase(by value: Value?) {
    base = value
  }

  /// Confirms an edit with the value that it produces.
  mutating func confirm(_ number: EditNumber) {
    guard let edit = pending.first(where: { $0.number == number }) else { return }
    confirm(number, by: edit.change(base))
  }

  /// Confirms an edit with another value, for example the one that the origin returned.
  mutating func confirm(_ number: EditNumber, by value: Value?) {
    guard contains(number) else { return }
    base = value
    withdraw(number)
  }

  /// Removes a failed edit.
  mutating func withdraw(_ number: EditNumber) {
    pending.removeAll { $0.number == number }
  }
}
