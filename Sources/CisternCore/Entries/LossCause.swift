/// The reason why the second tier lost a record.
@usableFromInline
enum LossCause: Sendable, Hashable, CaseIterable {
  /// It made room for others.
  case evicted
  /// It was damaged, or could not be written.
  case failed
}
