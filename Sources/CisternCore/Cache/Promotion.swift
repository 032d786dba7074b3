/// The outcome of putting a value of the second tier into memory.
@usableFromInline
enum Promotion: Sendable {
  /// Memory has the value, or would not hold it.
  case done
  /// The key was written or invalidated since the record was read.
  case overtaken
  /// The second tier has lost the record since it was read. Memory does not keep the value.
  case recordLost
}
