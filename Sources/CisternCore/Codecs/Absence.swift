/// The test for absent values of a cache.
@usableFromInline
struct Absence<Value: Sendable>: Sendable {
  /// The value that represents absence.
  @usableFromInline let value: Value
  @usableFromInline let isAbsent: @Sendable (Value) -> Bool

  init(value: Value, isAbsent: @escaping @Sendable (Value) -> Bool) {
    self.value = value
    self.isAbsent = isAbsent
  }

  @inlinable
  init() where Value: OptionalValue {
    value = .absent
    isAbsent = { $0.isAbsent }
  }
}

extension Absence {
  /// The absent value, if the type of the values is an optional.
  @usableFromInline
  static var value: Value? {
    guard let type = Value.self as? any OptionalValue.Type else { return nil }
    return type.absent as? Value
  }
}
