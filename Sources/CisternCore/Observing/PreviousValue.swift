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
