/// The optimistic edits of one key: functions over the confirmed value, in the order in which they were made. Pure.
///
/// What is shown is what the pending edits, one after the other, make of the confirmed value. An edit that is confirmed
/// enters the confirmed value, one that is withdrawn goes, and in either case the others are applied anew: each is
/// kept or lost by itself. Confirmed edits enter in the order of their confirmations, which is the order in which
/// whoever confirms them took them.
///
/// It calls the user's functions: outside all locks.
struct EditQueue<Value: Sendable>: Sendable {
  typealias Change = @Sendable (Value?) -> Value?

  struct Edit: Sendable {
    let number: UInt64
    let change: Change
  }

  /// The confirmed value; nil where there is none.
  private(set) var base: Value?
  /// Edits that are neither confirmed nor withdrawn.
  private(set) var pending: [Edit] = []

  init(base: Value?) {
    self.base = base
  }

  /// Whether no edit is pending: what is shown is confirmed.
  var isSettled: Bool { pending.isEmpty }

  func contains(_ number: UInt64) -> Bool { pending.contains { $0.number == number } }

  /// What is shown. Applies every pending edit.
  func shown() -> Value? { pending.reduce(base) { value, edit in edit.change(value) } }

  /// An edit is made: it comes after those that are pending.
  mutating func add(_ edit: Edit) {
    pending.append(edit)
  }

  /// Another value is confirmed, by a load, a set, or whoever else writes the key.
  mutating func replaceBase(by value: Value?) {
    base = value
  }

  /// An edit is confirmed, as it was made.
  mutating func confirm(_ number: UInt64) {
    guard let edit = pending.first(where: { $0.number == number }) else { return }
    confirm(number, by: edit.change(base))
  }

  /// An edit is confirmed, by this value in place of its own.
  mutating func confirm(_ number: UInt64, by value: Value?) {
    guard contains(number) else { return }
    base = value
    withdraw(number)
  }

  /// An edit failed.
  mutating func withdraw(_ number: UInt64) {
    pending.removeAll { $0.number == number }
  }
}
