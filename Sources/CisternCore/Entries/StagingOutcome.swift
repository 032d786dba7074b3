/// The answer of the second tier to a write.
@usableFromInline
enum StagingOutcome: Sendable, Hashable, CaseIterable {
  /// No write was staged.
  case nothing
  /// It took the key's new record.
  case record
  /// It took the key's removal.
  case removal
  /// It refused the write. The key has no record now.
  case refused
}
