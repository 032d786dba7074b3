/// A value that may be absent. Only `Optional` conforms to this protocol.
///
/// A cache of such values treats absence as a value. It stores absence for a lifetime and notifies observers of it.
/// The cache therefore does not fetch a key repeatedly if the origin does not have it.
public protocol OptionalValue {
  /// Whether the value is absent.
  var isAbsent: Bool { get }
  /// The value that represents absence.
  static var absent: Self { get }
}

extension Optional: OptionalValue {
  /// Whether the value is nil.
  @inlinable
  public var isAbsent: Bool { if case .none = self { true } else { false } }

  /// The value nil.
  @inlinable
  public static var absent: Wrapped? { .none }
}
