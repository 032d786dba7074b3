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

  /// The new value; nil for a removal, and for a key that stays as it is.
  var value: Value? { if case .store(let value) = self { value } else { nil } }
}
