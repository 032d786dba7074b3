/// The reason why a record is written again when it is promoted.
@usableFromInline
enum RewriteReason: Sendable, Hashable, CaseIterable {
  /// An older version of the schema wrote it.
  case migration
  /// It has a new time of its last use.
  case use
}
