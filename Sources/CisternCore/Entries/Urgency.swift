/// A task priority in a form that is cheap to store and copy.
///
/// The size of `TaskPriority` is known only to its own library, so copying one, or a value that contains one, takes
/// calls.
@usableFromInline
struct Urgency: Comparable, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(_ priority: TaskPriority) {
    rawValue = priority.rawValue
  }

  @inlinable
  var priority: TaskPriority { TaskPriority(rawValue: rawValue) }

  @inlinable
  static func < (one: Urgency, other: Urgency) -> Bool { one.rawValue < other.rawValue }
}
