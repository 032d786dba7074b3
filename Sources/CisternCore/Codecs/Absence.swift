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
