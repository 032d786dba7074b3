/// The value that a key had before a change.
public enum PreviousValue<Value: Sendable>: Sendable {
  /// The key had this value.
  case value(Value)
  /// The key had no value.
  case none
  /// The key had a value that is not known: only the second tier held it, or it was not decoded. Also for changes of
  /// many keys.
  case unknown

  /// The value; nil if the key had none, or if it is not known.
  public var value: Value? { if case .value(let value) = self { value } else { nil } }

  /// Whether the key had a value that is not known.
  public var isUnknown: Bool { if case .unknown = self { true } else { false } }
}

extension PreviousValue: Equatable where Value: Equatable {}
extension PreviousValue: Hashable where Value: Hashable {}

/// A previous value with an erased type. A buffer that merges changes exchanges it without a copy of the change.
enum ErasedPreviousValue: Sendable {
  case value(any AnyObject & Sendable)
  case none
  case unknown

  init<Value>(_ previous: PreviousValue<Value>) {
    self =
      switch previous {
      case .value(let value): .value(PreviousBox(value))
      case .none: .none
      case .unknown: .unknown
      }
  }

  /// Returns the value. The type must be that of the initializer's argument.
  func previous<Value>(of type: Value.Type = Value.self) -> PreviousValue<Value> {
    switch self {
    // Safe because all values of a registry have one type.
    case .value(let box): unsafe .value(unsafeDowncast(box, to: PreviousBox<Value>.self).value)
    case .none: .none
    case .unknown: .unknown
    }
  }
}

private final class PreviousBox<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
