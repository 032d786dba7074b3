/// A value that may be absent: `Optional`, and nothing else has a reason to conform.
///
/// In a cache of such values, that there is *nothing* is a value like any other: it is stored, lives for its time, and is
/// told to observers, so that a key that the origin does not have is not asked for again and again.
public protocol OptionalValue {
  /// Whether there is nothing.
  var isAbsent: Bool { get }
  /// The value that says that there is nothing.
  static var absent: Self { get }
}

extension Optional: OptionalValue {
  /// Whether it is nil.
  @inlinable
  public var isAbsent: Bool { if case .none = self { true } else { false } }

  /// Nil.
  @inlinable
  public static var absent: Wrapped? { .none }
}

/// How a cache whose values may be absent tells which are.
@usableFromInline
struct Absence<Value: Sendable>: Sendable {
  /// The value that says that there is nothing.
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
