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
