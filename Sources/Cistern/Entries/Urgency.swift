/// A task's priority where it is kept and passed on. A `TaskPriority` has a size that only its own library knows: copying
/// one, or anything that holds one, takes calls.
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
